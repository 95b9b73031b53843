//! Verifies the AnonCreds credential of an entry now: the agent makes a presentation of all that the book shows of it, and
//! the presentation is judged as that of anybody else.

use std::collections::BTreeMap;

use selfsame_anoncreds_wallet::show::KeptCredential;
use selfsame_anoncreds_wallet::{ChosenCredentials, ProofVerdict, ShownAttribute};
use selfsame_book::entry::{AnonCredsEntry, EntryRecord};
use selfsame_book_view::{EntryRule, EntryVerdict};
use selfsame_credential::verdict::Outcome;
use selfsame_driver::{Error, ErrorKind, Result};
use serde_json::{Value, json};

use super::{claims, entry_id};
use crate::books::Book;

/// The referent of the only thing that is asked for.
const ALL: &str = "all";
/// Where each rule comes from.
const PROOF: &str = "AnonCreds v1.0, \"Verify Presentation\"";
const STATUS: &str = "AnonCreds v1.0, \"Generate Non-Revocation Proof\"";
const TRUST: &str = "the verifier's trusted issuers";

/// What was found of a credential.
struct Findings {
    is_trusted: bool,
    /// `None` if it can't be revoked.
    is_revoked: Option<bool>,
    /// `None` if it was not asked for, because the credential is revoked.
    proof: Option<ProofVerdict>,
}

impl Book {
    /// What is to be said now of the AnonCreds credential of an entry; `None` if the agent does not hold it any more. A
    /// revocation that is found is noted.
    ///
    /// # Errors
    /// The registry's, the store's and the index's.
    pub(crate) async fn verify_held(
        &self,
        entry: &EntryRecord,
        held: &AnonCredsEntry,
    ) -> Result<Option<EntryVerdict>> {
        let kept = match self.anoncreds().kept(self.tenant(), &held.referent).await {
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            kept => kept?,
        };
        // Another credential can have come to its identifier.
        if entry_id(&kept.info) != entry.credential_id {
            return Ok(None);
        }
        let types = self.types().await?;
        let unmapped = || Error::bad_request("book-type-unmapped").with("type", &entry.type_id);
        let one = types.newest(&entry.type_id).ok_or_else(unmapped)?;
        let mapping = one.book.as_ref().ok_or_else(unmapped)?;
        let named = [&one.vct, &kept.schema_id, &kept.cred_def_id];
        let is_revoked = match held.rev_reg_id {
            Some(_) => {
                let revoked = self
                    .anoncreds()
                    .credential_revoked(self.tenant(), &held.referent);
                Some(revoked.await?)
            }
            None => None,
        };
        let findings = Findings {
            is_trusted: self.trusts(&kept.issuer_id, &named).await?,
            is_revoked,
            proof: match is_revoked {
                Some(true) => None,
                _ => {
                    let names = claims::shown(mapping, &kept.info.attrs);
                    Some(self.proven(&kept, names).await?)
                }
            },
        };
        if findings.is_revoked == Some(true) {
            self.revoke(&entry.credential_id).await?;
        }
        let as_of = held.rev_reg_id.as_ref();
        let as_of = as_of.map(|_| self.shared().clock.now().rfc3339());
        Ok(Some(findings.verdict(as_of)))
    }

    /// Presents these attributes of a credential, and verifies the presentation.
    async fn proven(&self, kept: &KeptCredential, names: Vec<String>) -> Result<ProofVerdict> {
        let request = self.request_for(kept, &names).to_string().into_bytes();
        let shown = ShownAttribute {
            cred_id: kept.info.referent.clone(),
            revealed: true,
            timestamp: None,
        };
        let chosen = ChosenCredentials {
            requested_attributes: BTreeMap::from([(ALL.to_owned(), shown)]),
            ..ChosenCredentials::default()
        };
        let anoncreds = self.anoncreds();
        match anoncreds.present(self.tenant(), &request, &chosen).await {
            Ok(presentation) => anoncreds.verify(&request, &presentation).await,
            Err(error) if error.kind == ErrorKind::BadRequest => Ok(ProofVerdict {
                is_valid: false,
                messages: vec![error.to_string()],
            }),
            Err(error) => Err(error),
        }
    }

    fn request_for(&self, kept: &KeptCredential, names: &[String]) -> Value {
        let ctx = self.shared().clock.ctx();
        let bytes = ctx.random::<10>("book/nonce");
        let nonce = bytes
            .iter()
            .fold(0_u128, |number, byte| (number << 8) | u128::from(*byte));
        let info = &kept.info;
        let mut request = json!({
            "name": "credential book",
            "version": "1.0",
            "nonce": nonce.to_string(),
            "requested_attributes": {
                ALL: {"names": names, "restrictions": [{"cred_def_id": info.cred_def_id}]},
            },
            "requested_predicates": {},
        });
        if info.rev_reg_id.is_some() {
            request["non_revoked"] = json!({"to": ctx.now().0});
        }
        request
    }
}

impl Findings {
    fn verdict(self, status_as_of: Option<String>) -> EntryVerdict {
        let is_proven = self.proof.as_ref().map(|proof| proof.is_valid);
        let outcome = match (self.is_revoked, is_proven, self.is_trusted) {
            (Some(true), _, _) => Outcome::Revoked,
            (_, Some(true), true) => Outcome::Valid,
            (_, Some(true), false) => Outcome::Untrusted,
            (_, _, _) => Outcome::Invalid,
        };
        let rule = |name: &str, passed: Option<bool>, paragraph: &str| EntryRule {
            name: name.to_owned(),
            passed,
            paragraph: paragraph.to_owned(),
            detail: String::new(),
        };
        let messages = self.proof.map(|proof| proof.messages.join("; "));
        let proof = EntryRule {
            detail: messages.unwrap_or_default(),
            ..rule("proof", is_proven, PROOF)
        };
        let status = rule("status", self.is_revoked.map(|revoked| !revoked), STATUS);
        let trust = rule("issuer", Some(self.is_trusted), TRUST);
        EntryVerdict {
            outcome: outcome.as_str().to_owned(),
            rules: vec![proof, status, trust],
            status_as_of,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(is_trusted: bool, is_revoked: Option<bool>, is_valid: Option<bool>) -> String {
        let proof = is_valid.map(|is_valid| ProofVerdict {
            is_valid,
            messages: vec!["VALUE_ERROR::x".to_owned()],
        });
        let findings = Findings {
            is_trusted,
            is_revoked,
            proof,
        };
        findings.verdict(None).outcome
    }

    #[test]
    fn a_credential_is_valid_if_it_is_proven_not_revoked_and_of_a_trusted_issuer() {
        assert_eq!(outcome(true, Some(false), Some(true)), "valid");
        assert_eq!(outcome(true, None, Some(true)), "valid");
        assert_eq!(outcome(false, None, Some(true)), "untrusted");
        assert_eq!(outcome(true, Some(true), None), "revoked");
        assert_eq!(outcome(true, Some(false), Some(false)), "invalid");
        assert_eq!(outcome(true, Some(false), None), "invalid");
    }
}
