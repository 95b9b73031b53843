//! What the bodies of calls may contain. A member or an option that is not known is refused (VCALM 1.0 "Options").

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use http::StatusCode;
use selfsame_crypto::json::{self, Limits};
use selfsame_data_integrity::Cryptosuite;
use selfsame_http::error::Problem;
use selfsame_http::extract::{Raw, is_kind};
use selfsame_w3c::{
    GivenCredential, GivenPresentation, IssueOrder, PresentOrder, PresentationDemand, StatusOrder,
    StatusPurpose, VcProblem, code,
};
use serde_json::{Map, Value};

/// The largest body, in bytes; one document has at most as much.
pub(crate) const BODY_MAX: usize = selfsame_data_integrity::LIMITS.max_bytes;
/// Bounds on a body: those of a document, and two levels around it.
const LIMITS: Limits = Limits {
    max_bytes: BODY_MAX,
    max_depth: selfsame_data_integrity::LIMITS.max_depth + 2,
    max_members: selfsame_data_integrity::LIMITS.max_members,
};
/// The largest value of an option, in bytes.
const OPTION_MAX: usize = 512;
/// The type of proofs.
const PROOF: &str = "DataIntegrityProof";
/// The type of entries of status lists (Bitstring Status List §2.1).
const ENTRY: &str = "BitstringStatusListEntry";

/// A body of JSON, not yet looked at.
pub struct CallBody(Bytes);

/// Members that are taken one by one. What is left is not known.
pub(crate) struct BodyMembers(Map<String, Value>);

/// A credential to verify, and what the answer contains.
pub(crate) struct CredentialToVerify {
    pub credential: GivenCredential,
    pub shows_credential: bool,
    pub shows_problems: bool,
    pub shows_results: bool,
}

/// A presentation to verify, and whether the answer contains it.
pub(crate) struct PresentationToVerify {
    pub presentation: GivenPresentation,
    pub demand: Option<PresentationDemand>,
    pub shows_presentation: bool,
}

impl<S: Send + Sync> FromRequest<S> for CallBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let is_json = is_kind(request.headers(), "application/json");
        let Raw(body) = Raw::from_request(request, state).await?;
        match is_json || body.is_empty() {
            true => Ok(Self(body)),
            false => Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "body-not-json",
            )),
        }
    }
}

impl CallBody {
    /// The body of a call, as it arrives.
    pub fn of(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }

    /// The calls that take it, by their names.
    #[must_use]
    pub fn takers(&self) -> Vec<&'static str> {
        let takers = [
            ("issue", self.issue().is_ok()),
            ("status", self.status().is_ok()),
            ("present", self.present().is_ok()),
            ("verify a credential", self.verify_credential().is_ok()),
            ("verify a presentation", self.verify_presentation().is_ok()),
            ("challenge", self.nothing().is_ok()),
        ];
        let takers = takers.into_iter().filter(|(_, takes)| *takes);
        takers.map(|(name, _)| name).collect()
    }

    fn members(&self) -> Result<BodyMembers, VcProblem> {
        let parsed = json::parse(&self.0, &LIMITS);
        match parsed.map_err(|error| VcProblem::new(code::PARSING, error.to_string()))? {
            Value::Object(members) => Ok(BodyMembers(members)),
            _ => Err(VcProblem::new(code::PARSING, "the body must be an object")),
        }
    }

    /// The body of a call that takes none.
    pub(crate) fn nothing(&self) -> Result<(), VcProblem> {
        match self.0.is_empty() {
            true => Ok(()),
            false => self.members()?.end(),
        }
    }

    /// `/credentials/issue`.
    pub(crate) fn issue(&self) -> Result<IssueOrder, VcProblem> {
        let mut members = self.members()?;
        let credential = members.object("credential")?;
        let mut options = members.options()?;
        members.end()?;
        options.proof_type()?;
        let order = IssueOrder {
            credential,
            suite: options.suite()?,
            id: options.text("credentialId")?,
            has_status: options.wants_status()?,
        };
        options.end()?;
        Ok(order)
    }

    /// `/credentials/status`.
    pub(crate) fn status(&self) -> Result<StatusOrder, VcProblem> {
        let mut members = self.members()?;
        let id = members.text("credentialId")?;
        let id = id.ok_or_else(|| missing("credentialId"))?;
        let mut entry = BodyMembers(members.object("credentialStatus")?);
        let is_set = members.flag("status")?;
        let is_set = is_set.ok_or_else(|| missing("status"))?;
        members.end()?;
        let kind = entry.text("type")?;
        if kind.as_deref() != Some(ENTRY) {
            let detail = format!("`credentialStatus` must have the type {ENTRY}");
            return Err(VcProblem::malformed(detail));
        }
        let purpose = match entry.text("statusPurpose")?.as_deref() {
            Some("revocation") => StatusPurpose::Revocation,
            Some("suspension") => StatusPurpose::Suspension,
            _ => {
                let detail = "`statusPurpose` must be revocation or suspension";
                return Err(VcProblem::malformed(detail));
            }
        };
        // Where the entry stands is known from the credential.
        for name in ["id", "statusListIndex", "statusListCredential"] {
            entry.text(name)?;
        }
        entry.end()?;
        Ok(StatusOrder {
            id,
            purpose,
            is_set,
        })
    }

    /// `/presentations`.
    pub(crate) fn present(&self) -> Result<PresentOrder, VcProblem> {
        let mut members = self.members()?;
        let presentation = members.object("presentation")?;
        let mut options = members.options()?;
        members.end()?;
        options.proof_type()?;
        if let Some(purpose) = options.text("proofPurpose")?
            && purpose != "authentication"
        {
            let detail = "the proof of a presentation is for authentication";
            return Err(VcProblem::malformed(detail));
        }
        let order = PresentOrder {
            presentation,
            suite: options.suite()?,
            method: options.text("verificationMethod")?,
            challenge: options.text("challenge")?,
            domain: options.text("domain")?,
        };
        options.end()?;
        Ok(order)
    }

    /// `/credentials/verify`.
    pub(crate) fn verify_credential(&self) -> Result<CredentialToVerify, VcProblem> {
        let mut members = self.members()?;
        let credential = members.take("verifiableCredential");
        let credential = credential.ok_or_else(|| missing("verifiableCredential"))?;
        let mut options = members.options()?;
        members.end()?;
        let asked = CredentialToVerify {
            shows_credential: options.flag("returnCredential")?.unwrap_or(false),
            shows_problems: options.flag("returnProblemDetails")?.unwrap_or(true),
            shows_results: options.flag("returnResults")?.unwrap_or(false),
            credential: GivenCredential::of(credential)?,
        };
        options.end()?;
        Ok(asked)
    }

    /// `/presentations/verify`.
    pub(crate) fn verify_presentation(&self) -> Result<PresentationToVerify, VcProblem> {
        let mut members = self.members()?;
        let given = match (
            members.take("verifiablePresentation"),
            members.take("presentation"),
        ) {
            (Some(proven), None) => GivenPresentation::of(proven, true)?,
            (None, Some(bare)) => GivenPresentation::of(bare, false)?,
            (None, None) => return Err(missing("verifiablePresentation")),
            (Some(_), Some(_)) => {
                let detail = "give either `verifiablePresentation` or `presentation`";
                return Err(VcProblem::malformed(detail));
            }
        };
        let mut options = members.options()?;
        members.end()?;
        let domain = options.text("domain")?;
        let challenge = options.text("challenge")?;
        let shows_presentation = options.flag("returnPresentation")?.unwrap_or(false);
        options.end()?;
        if challenge.is_none() && domain.is_some() {
            return Err(missing("options.challenge"));
        }
        Ok(PresentationToVerify {
            presentation: given,
            demand: challenge.map(|challenge| PresentationDemand { challenge, domain }),
            shows_presentation,
        })
    }
}

impl BodyMembers {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    fn object(&mut self, name: &'static str) -> Result<Map<String, Value>, VcProblem> {
        match self.take(name) {
            Some(Value::Object(members)) => Ok(members),
            Some(_) => Err(wrong(name, "an object")),
            None => Err(missing(name)),
        }
    }

    fn options(&mut self) -> Result<Self, VcProblem> {
        match self.take("options") {
            None => Ok(Self(Map::new())),
            Some(Value::Object(members)) => Ok(Self(members)),
            Some(_) => Err(wrong("options", "an object")),
        }
    }

    fn text(&mut self, name: &'static str) -> Result<Option<String>, VcProblem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) if (1..=OPTION_MAX).contains(&text.len()) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "a text of 1 to 512 bytes")),
        }
    }

    fn flag(&mut self, name: &'static str) -> Result<Option<bool>, VcProblem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(wrong(name, "true or false")),
        }
    }

    /// The type of the proof, of which there is one.
    fn proof_type(&mut self) -> Result<(), VcProblem> {
        match self.text("type")?.as_deref() {
            None | Some(PROOF) => Ok(()),
            Some(_) => Err(wrong("type", PROOF)),
        }
    }

    fn suite(&mut self) -> Result<Option<Cryptosuite>, VcProblem> {
        let Some(name) = self.text("cryptosuite")? else {
            return Ok(None);
        };
        let known = Cryptosuite::ALL.map(Cryptosuite::name).join(", ");
        let suite = Cryptosuite::named(&name);
        suite.map(Some).ok_or_else(|| wrong("cryptosuite", &known))
    }

    /// Whether the option `credentialStatus` asks for entries in the issuer's lists.
    fn wants_status(&mut self) -> Result<bool, VcProblem> {
        let Some(value) = self.take("credentialStatus") else {
            return Ok(false);
        };
        let is_entry = value.as_object().is_some_and(|entry| {
            entry.len() == 1 && entry.get("type").is_some_and(|kind| kind == ENTRY)
        });
        let wanted = format!("{{\"type\": \"{ENTRY}\"}}");
        is_entry
            .then_some(true)
            .ok_or_else(|| wrong("credentialStatus", &wanted))
    }

    /// Refuses what is left.
    fn end(self) -> Result<(), VcProblem> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => {
                let name: String = name.chars().take(64).collect();
                let detail = format!("`{name}` is not known here");
                Err(VcProblem::new(code::UNKNOWN_OPTION, detail))
            }
        }
    }
}

fn missing(name: &str) -> VcProblem {
    VcProblem::malformed(format!("`{name}` is missing"))
}

fn wrong(name: &str, wanted: &str) -> VcProblem {
    VcProblem::malformed(format!("`{name}` must be {wanted}"))
}

#[cfg(test)]
mod tests;
