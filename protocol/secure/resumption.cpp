#include "protocol/secure/resumption.h"

#include "protocol/secure/key_derivation.h"

namespace ashlar::secure {

ResumeProof resume_proof(const Secret& resumption, const Bytes32& binding) {
  return hmac(resumption.bytes(), {bytes_of("ashlar resume"), binding});
}

bool resume_proof_ok(const Secret& resumption, const Bytes32& binding, ByteSpan proof) {
  return equal(resume_proof(resumption, binding), proof);
}

}  // namespace ashlar::secure
