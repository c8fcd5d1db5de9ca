#pragma once
#include "protocol/secure/session_keys.h"

namespace ashlar::secure {

/// Proves in a new handshake that the client is the one of an earlier session: HMAC by that session's
/// resumption secret over the new handshake's binding, so it is of use in no other. Goes into the finish's
/// payload.
using ResumeProof = Bytes32;

/// Proves to hold a session's resumption secret, in this handshake and no other.
ResumeProof resume_proof(const Secret& resumption, const Bytes32& binding);
/// Constant time.
bool resume_proof_ok(const Secret& resumption, const Bytes32& binding, ByteSpan proof);

}  // namespace ashlar::secure
