// Sets of whole numbers as ranges: packets that arrived, bytes of streams.

/** From `begin` up to, not including, `end`. */
export interface Range {
  begin: number;
  end: number;
}

/** Ascending ranges that neither overlap nor touch. */
export class RangeSet {
  readonly ranges: Range[] = [];

  /** The first range that ends at `value` or behind. A handful of ranges is usual, so it looks at each. */
  private find(value: number): number {
    let index = this.ranges.length;
    while (index > 0 && this.ranges[index - 1].end >= value) --index;
    return index;
  }

  add(begin: number, end: number): void {
    if (begin >= end) return;
    const index = this.find(begin);
    let merged = 0;
    while (index + merged < this.ranges.length && this.ranges[index + merged].begin <= end) {
      begin = Math.min(begin, this.ranges[index + merged].begin);
      end = Math.max(end, this.ranges[index + merged].end);
      ++merged;
    }
    this.ranges.splice(index, merged, { begin, end });
  }

  remove(begin: number, end: number): void {
    if (begin >= end) return;
    for (let i = this.ranges.length - 1; i >= 0 && this.ranges[i].end > begin; --i) {
      const { begin: low, end: high } = this.ranges[i];
      if (low >= end) continue;
      const left: Range[] = [];
      if (low < begin) left.push({ begin: low, end: begin });
      if (high > end) left.push({ begin: end, end: high });
      this.ranges.splice(i, 1, ...left);
    }
  }

  /** The parts of [begin, end) that it does not hold, ascending. */
  missing(begin: number, end: number): Range[] {
    const parts: Range[] = [];
    for (let i = this.find(begin); i < this.ranges.length && this.ranges[i].begin < end; ++i) {
      if (this.ranges[i].begin > begin) parts.push({ begin, end: this.ranges[i].begin });
      begin = Math.max(begin, this.ranges[i].end);
    }
    if (begin < end) parts.push({ begin, end });
    return parts;
  }

  contains(value: number): boolean {
    return this.missing(value, value + 1).length === 0;
  }

  get empty(): boolean {
    return this.ranges.length === 0;
  }
}
