//! The attestation of a client and the proof that it has the attested key (draft -07 §5, §9).

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Jwk, PublicKey};
use selfsame_oauth::client::MAX_CLIENT_ID;
use selfsame_oauth::jwt::Jwt;
use selfsame_oauth::spent::SpentId;

use crate::challenge::Challenges;
use crate::fault::AttestationFault;
use crate::headers::AttestationHeaders;
use crate::trust::TrustedAttesters;
use crate::{ALGORITHMS, LEEWAY};

/// The type of attestations (§5.1).
pub const TYP: &str = "oauth-client-attestation+jwt";
/// The type of proofs of possession (§5.2).
pub const POP_TYP: &str = "oauth-client-attestation-pop+jwt";
/// How old a proof of possession may be, in seconds.
pub const POP_AGE: u64 = 300;
/// The longest time that an attestation may still be valid, in seconds: one year.
const LONGEST: u64 = 366 * 86_400;
/// The longest `jti`, in bytes.
const MAX_JTI: usize = 256;

/// What an attestation is judged by.
#[derive(Clone, Copy, Debug)]
pub struct ClientRules<'a> {
    /// The attesters that are trusted.
    pub trusted: &'a TrustedAttesters,
    /// The identifier of the authorization server (RFC 8414 §2).
    pub server: &'a str,
    /// Its challenges. Every proof of possession needs one.
    pub challenges: &'a Challenges,
    /// The time.
    pub now: UnixTime,
}

/// A client that is attested and has the attested key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttestedClient {
    /// The client: all instances of one wallet have the same (HAIP 1.0 §4.4.1).
    pub client_id: String,
    /// Who attests it.
    pub attester: String,
    /// The thumbprint of the instance's key, in base64url. Refresh tokens are bound to it (§10.3).
    pub instance: String,
    /// The identifier of the proof of possession, which must be accepted once only.
    pub spent: SpentId,
}

/// An attestation whose signature holds.
struct Attested<'a> {
    client_id: &'a str,
    attester: &'a str,
    key: Jwk,
}

/// Judges the attestation of a request.
///
/// # Errors
/// The first rule of §9 that does not hold.
pub fn judge(
    headers: &AttestationHeaders<'_>,
    rules: &ClientRules<'_>,
) -> Result<AttestedClient, AttestationFault> {
    let attestation = read(headers.attestation, TYP)?;
    rules.trusted.verify(&attestation, rules.now)?;
    let attested = attested(&attestation, rules.now)?;
    let pop = read(headers.pop, POP_TYP)?;
    let alg = pop.header().alg;
    if !ALGORITHMS.contains(&alg) || !attested.key.may_verify(alg) {
        return Err(AttestationFault::Algorithm);
    }
    let key = PublicKey::from_jwk(&attested.key).map_err(|_| AttestationFault::Key)?;
    pop.verify(&key).map_err(|_| AttestationFault::Signature)?;
    let instance = base64url_encode(&key.thumbprint());
    let spent = proven(&pop, &attested, &instance, rules)?;
    Ok(AttestedClient {
        client_id: attested.client_id.to_owned(),
        attester: attested.attester.to_owned(),
        instance,
        spent,
    })
}

fn read(text: &str, typ: &str) -> Result<Jwt, AttestationFault> {
    let jwt = Jwt::parse(text).map_err(|_| AttestationFault::Form)?;
    match jwt.header().is_of_type(typ) {
        true => Ok(jwt),
        false => Err(AttestationFault::Type),
    }
}

/// The claims of an attestation (§5.1).
fn attested(jwt: &Jwt, now: UnixTime) -> Result<Attested<'_>, AttestationFault> {
    let claim = AttestationFault::Claim;
    let attester = jwt.text("iss").filter(|iss| !iss.is_empty()).ok_or(claim)?;
    let client_id = jwt
        .text("sub")
        .filter(|sub| !sub.is_empty() && sub.len() <= MAX_CLIENT_ID)
        .ok_or(claim)?;
    check_times(jwt, now)?;
    let key = jwt.claims().get("cnf").and_then(|cnf| cnf.get("jwk"));
    // §9 (6): reading refuses a private key.
    let key = Jwk::from_value(key.ok_or(claim)?).map_err(|_| AttestationFault::Key)?;
    Ok(Attested {
        client_id,
        attester,
        key,
    })
}

/// `exp` must be there; `nbf` and `iat` hold if they are.
fn check_times(jwt: &Jwt, now: UnixTime) -> Result<(), AttestationFault> {
    let time = |name| jwt.time(name).map_err(|_| AttestationFault::Claim);
    let expires = time("exp")?.ok_or(AttestationFault::Claim)?;
    let latest = now.plus(LEEWAY);
    if expires.plus(LEEWAY) <= now {
        return Err(AttestationFault::Stale);
    }
    if expires > latest.plus(LONGEST) {
        return Err(AttestationFault::Claim);
    }
    let is_early = |time: Option<UnixTime>| time.is_some_and(|time| time > latest);
    match is_early(time("nbf")?) || is_early(time("iat")?) {
        true => Err(AttestationFault::Early),
        false => Ok(()),
    }
}

/// The claims of a proof of possession (§5.2).
fn proven(
    pop: &Jwt,
    attested: &Attested<'_>,
    instance: &str,
    rules: &ClientRules<'_>,
) -> Result<SpentId, AttestationFault> {
    let time = |name| pop.time(name).map_err(|_| AttestationFault::Claim);
    if pop.text("iss") != Some(attested.client_id) {
        return Err(AttestationFault::OtherClient);
    }
    pop.check_audience(&[rules.server])
        .map_err(|_| AttestationFault::Audience)?;
    let made = time("iat")?.ok_or(AttestationFault::Claim)?;
    let (latest, end) = (rules.now.plus(LEEWAY), made.plus(POP_AGE));
    if made > latest || time("nbf")?.is_some_and(|begin| begin > latest) {
        return Err(AttestationFault::Early);
    }
    // Earlier drafts had `exp`; if it is there, it holds.
    let is_over = time("exp")?.is_some_and(|end| end.plus(LEEWAY) <= rules.now);
    if is_over || end.plus(LEEWAY) <= rules.now {
        return Err(AttestationFault::Old);
    }
    let jti = pop.text("jti");
    let jti = jti.filter(|jti| !jti.is_empty() && jti.len() <= MAX_JTI);
    let jti = jti.ok_or(AttestationFault::Claim)?;
    rules
        .challenges
        .check(pop.text("challenge"), rules.server, rules.now)?;
    let end = end.plus(LEEWAY).plus(1);
    Ok(SpentId::of("attestation pop", instance, jti, end))
}

#[cfg(test)]
mod tests;
