// Proves that bytes are a FlatBuffers message of a given shape, so that the generated readers stay within them:
// the JavaScript package has no verifier of its own.

import { WireError } from './bytes';

const depthMax = 8;
const tablesMax = 80;  // a score of 64 rows

/** What a field of a table may be. Sizes and alignments in bytes; a struct is a scalar of its size. */
export type FieldShape =
  | { kind: 'inline'; size: number; align: number }
  | { kind: 'string' }
  | { kind: 'vector'; size: number; align: number }
  | { kind: 'strings' }
  | { kind: 'table'; shape: TableShape }
  | { kind: 'tables'; shape: TableShape }
  /** The union's type stands in the field before; types that are not listed are not looked at. */
  | { kind: 'union'; shapes: readonly TableShape[] };

/** The fields of a table in the schema's order: field i has the vtable's place i. */
export type TableShape = readonly FieldShape[];

export const scalar = (size: number): FieldShape => ({ kind: 'inline', size, align: size });
export const struct = (size: number, align: number): FieldShape => ({ kind: 'inline', size, align });
export const vectorOf = (size: number, align = size): FieldShape => ({ kind: 'vector', size, align });
export const text: FieldShape = { kind: 'string' };

class Verifier {
  private readonly view: DataView;
  private tables = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  private need(at: number, count: number, align: number): void {
    if (at < 0 || at + count > this.bytes.length) throw new WireError('a message points outside itself');
    if (at % align !== 0) throw new WireError('a message holds something unaligned');
  }

  u32(at: number): number {
    this.need(at, 4, 4);
    return this.view.getUint32(at, true);
  }

  /** Where an offset leads. */
  follow(at: number): number {
    const offset = this.u32(at);
    if (offset === 0) throw new WireError('a message points at itself');
    return at + offset;
  }

  private vector(at: number, size: number, align: number): number {
    const count = this.u32(at);
    // A list without elements is not aligned for them: writers differ there.
    this.need(at + 4, count * size, count === 0 ? 1 : align);
    return count;
  }

  private string(at: number): void {
    const bytes = this.vector(at, 1, 1);
    this.need(at + 4, bytes + 1, 1);
    if (this.bytes[at + 4 + bytes] !== 0) throw new WireError('a string without its end');
  }

  table(at: number, shape: TableShape, depth: number): void {
    if (depth > depthMax || ++this.tables > tablesMax) throw new WireError('a message of too many tables');
    this.need(at, 4, 4);
    const vtable = at - this.view.getInt32(at, true);
    this.need(vtable, 4, 2);
    const vtableBytes = this.view.getUint16(vtable, true);
    const tableBytes = this.view.getUint16(vtable + 2, true);
    if (vtableBytes < 4 || vtableBytes % 2 !== 0) throw new WireError('a table without its list of fields');
    this.need(vtable, vtableBytes, 2);
    this.need(at, tableBytes, 1);

    const place = (field: number): number => {
      const entry = 4 + 2 * field;
      const offset = entry + 2 <= vtableBytes ? this.view.getUint16(vtable + entry, true) : 0;
      return offset === 0 ? 0 : at + offset;
    };
    shape.forEach((field, i) => {
      const position = place(i);
      if (position === 0) return;
      const [size, align] = field.kind === 'inline' ? [field.size, field.align] : [4, 4];
      this.need(position, size, align);
      if (position + size > at + tableBytes) throw new WireError('a field outside its table');
      const kind = field.kind === 'union' && i > 0 ? place(i - 1) : 0;
      this.field(position, field, kind === 0 ? 0 : this.bytes[kind], depth);
    });
  }

  private field(position: number, field: FieldShape, unionType: number, depth: number): void {
    if (field.kind === 'inline') return;
    const target = this.follow(position);
    switch (field.kind) {
      case 'string':
        this.string(target);
        break;
      case 'vector':
        this.vector(target, field.size, field.align);
        break;
      case 'strings':
        this.each(target, (element) => this.string(element));
        break;
      case 'table':
        this.table(target, field.shape, depth + 1);
        break;
      case 'tables':
        this.each(target, (element) => this.table(element, field.shape, depth + 1));
        break;
      case 'union':
        if (unionType >= 1 && unionType <= field.shapes.length) {
          this.table(target, field.shapes[unionType - 1], depth + 1);
        }
        break;
    }
  }

  private each(at: number, look: (element: number) => void): void {
    const count = this.vector(at, 4, 4);
    for (let i = 0; i < count; ++i) look(this.follow(at + 4 + 4 * i));
  }
}

/** Throws a WireError unless the bytes are a message with this identifier whose root has this shape. */
export function verifyMessage(bytes: Uint8Array, identifier: string, root: TableShape): void {
  if (bytes.length < 8 || bytes.length > 64 * 1024) throw new WireError(`a message of ${bytes.length} bytes`);
  for (let i = 0; i < 4; ++i) {
    if (bytes[4 + i] !== identifier.charCodeAt(i)) throw new WireError('a message of another kind');
  }
  const verifier = new Verifier(bytes);
  verifier.table(verifier.follow(0), root, 1);
}
