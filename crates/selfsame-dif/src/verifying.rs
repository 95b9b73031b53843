//! The verifier's side: what is asked for, and whether an answer is valid and meets it.

use selfsame_credential::verdict::Outcome;
use selfsame_credential::verify::{Binding, Presented};
use selfsame_crypto::encoding::base64url_encode;
use selfsame_driver::Result;
use selfsame_driver::record::encode;
use selfsame_mediation::beside::{BesideVerdict, ProofBeside};
use selfsame_openid::verifier::Verifier;
use selfsame_store::TenantId;
use serde_json::Value;

use crate::DifFormat;
use crate::definition::{DefinedRequest, Descriptor};
use crate::error::read;
use crate::submission::{PRESENTED_MAX, SubmittedProof};

impl DifFormat {
    /// A request with a challenge and a domain.
    pub(crate) async fn asked(&self, tenant: &TenantId, request: &Value) -> Result<Vec<u8>> {
        let mut request = DefinedRequest::parse(&encode(request)?)?;
        let ctx = self.shared.clock.ctx();
        let options = &mut request.options;
        options
            .challenge
            .get_or_insert_with(|| base64url_encode(&ctx.random::<24>("dif/challenge")));
        if options.domain.is_none() {
            let roles = self.roles(tenant).await?;
            options.domain = Some(roles.organisation.identifier.clone());
        }
        encode(&request)
    }

    /// Whether each presentation is valid and meets its descriptor.
    pub(crate) async fn verified(
        &self,
        tenant: &TenantId,
        proof: &ProofBeside<'_>,
    ) -> Result<BesideVerdict> {
        let request = DefinedRequest::parse(proof.request)?;
        if request.presentation_definition.wants_integrity() {
            return self.integrity.verified(&request, proof.presentation).await;
        }
        let submitted: SubmittedProof = read(proof.presentation)?;
        let roles = self.roles(tenant).await?;
        let judging = Judging {
            verifier: roles.verifier()?,
            binding: request.binding()?,
            submitted: &submitted,
            request: &request,
        };
        let mut messages = Vec::new();
        if submitted.presented.len() > PRESENTED_MAX {
            messages.push("the submission has too many presentations".to_owned());
        }
        let definition = &request.presentation_definition;
        if submitted.presentation_submission.definition_id != definition.id {
            messages.push("the submission answers another definition".to_owned());
        }
        if messages.is_empty() {
            for descriptor in &definition.input_descriptors {
                let found = judging.fault(descriptor).await?;
                messages.extend(found.map(|why| format!("{}: {why}", descriptor.id)));
            }
        }
        Ok(BesideVerdict {
            is_valid: messages.is_empty(),
            messages,
        })
    }
}

/// A submission that is judged.
struct Judging<'a> {
    verifier: &'a Verifier,
    binding: Binding,
    submitted: &'a SubmittedProof,
    request: &'a DefinedRequest,
}

impl Judging<'_> {
    /// What is wrong with the answer to a descriptor; `None` if it is accepted.
    async fn fault(&self, descriptor: &Descriptor) -> Result<Option<String>> {
        let said = |why: &str| Ok(Some(why.to_owned()));
        let Some(answer) = self.submitted.answer(&descriptor.id) else {
            return said("nothing is presented");
        };
        let definition = &self.request.presentation_definition;
        let format = answer.format.parse().ok();
        let Some(format) = format.filter(|_| definition.takes(descriptor, answer.format)) else {
            return said("the format was not asked for");
        };
        let presented = Presented {
            format,
            raw: answer.raw,
            expected: Some(&self.binding),
        };
        let verdict = self.verifier.judge(&presented).await?;
        if verdict.outcome != Outcome::Valid {
            return said(verdict.outcome.as_str());
        }
        let claims = verdict.claims.unwrap_or_default();
        match descriptor.met_in(&claims) {
            Some(_) => Ok(None),
            None => said("the credential does not say what was asked for"),
        }
    }
}
