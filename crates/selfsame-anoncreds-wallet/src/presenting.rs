//! Presentations.

use std::collections::BTreeMap;

use selfsame_anoncreds::format::{Message as _, PresentationRequest};
use selfsame_anoncreds_roles::answer::{AnswerDraft, AssignedReferents, HoldersChoice};
use selfsame_anoncreds_roles::{HeldCredential, PublishedObjects, RoleError};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::TenantId;

use crate::error::{refused, unknown};
use crate::matching::named;
use crate::objects::KnownDefinition;
use crate::view::ChosenCredentials;
use crate::wallet::AnonCreds;

/// The credentials of a presentation, with their published objects.
struct Gathered {
    held: Vec<HeldCredential>,
    published: PublishedObjects,
    definitions: Vec<KnownDefinition>,
}

impl AnonCreds {
    /// Makes the JSON of a presentation.
    ///
    /// # Errors
    /// `BadRequest` if the choice does not answer the request, or a predicate is not met; the registry's.
    pub async fn present(
        &self,
        tenant: &TenantId,
        request: &[u8],
        chosen: &ChosenCredentials,
    ) -> Result<Vec<u8>> {
        let request = PresentationRequest::from_json(request).map_err(refused)?;
        let ids: Vec<&str> = named(chosen).into_iter().collect();
        let mut gathered = self.gathered(tenant, &ids).await?;
        let assigned = assigned(chosen, &ids);
        let choice = holders_choice(chosen);
        let secret = self.secrets.of(tenant).await?;
        let (prepared, ctx) = (self.objects.prepared.clone(), self.shared.clock.ctx());
        let presenting = move || {
            for known in &gathered.definitions {
                let definition = prepared.of(known)?;
                let definitions = &mut gathered.published.definitions;
                definitions.insert(known.id.to_string(), definition);
            }
            let (held, published) = (&gathered.held, &gathered.published);
            let draft = AnswerDraft::new(&request, held, published, &choice);
            let draft = draft.map_err(refused)?.assigned(&assigned);
            if let Some(need) = draft.need().map_err(refused)? {
                return Err(refused(RoleError::Missing(need.missing_tails())));
            }
            let presentation = draft.present(&secret, &ctx).map_err(refused)?;
            Ok(presentation.to_json().map_err(refused)?.into_bytes())
        };
        self.compute(presenting).await
    }

    async fn gathered(&self, tenant: &TenantId, ids: &[&str]) -> Result<Gathered> {
        let mut gathered = Gathered {
            held: Vec::new(),
            published: PublishedObjects::default(),
            definitions: Vec::new(),
        };
        for id in ids {
            let record = self
                .held(tenant, id)
                .await
                .map_err(|error| match error.kind {
                    ErrorKind::NotFound => unheld(id),
                    _ => error,
                })?;
            let (schema_id, definition_id) = (&record.info.schema_id, &record.info.cred_def_id);
            let schemas = &mut gathered.published.schemas;
            schemas.insert(schema_id.clone(), record.schema.clone());
            let known = self.objects.definition(definition_id).await?;
            let known = known.ok_or_else(|| unknown("the credential definition", definition_id))?;
            gathered.definitions.push(known);
            gathered.held.push(record.opened()?);
        }
        Ok(gathered)
    }
}

/// The places of the chosen credentials among `ids`.
fn assigned(chosen: &ChosenCredentials, ids: &[&str]) -> AssignedReferents {
    let place = |id: &str| ids.iter().position(|known| *known == id);
    let attributes = chosen.requested_attributes.iter();
    let predicates = chosen.requested_predicates.iter();
    AssignedReferents {
        attributes: attributes
            .filter_map(|(referent, shown)| Some((referent.clone(), place(&shown.cred_id)?)))
            .collect(),
        predicates: predicates
            .filter_map(|(referent, shown)| Some((referent.clone(), place(&shown.cred_id)?)))
            .collect(),
    }
}

fn holders_choice(chosen: &ChosenCredentials) -> HoldersChoice {
    let hidden = chosen.requested_attributes.iter();
    let hidden = hidden.filter(|(_, shown)| !shown.revealed);
    let attested: BTreeMap<_, _> = chosen.self_attested_attributes.clone();
    HoldersChoice {
        hidden: hidden.map(|(referent, _)| referent.clone()).collect(),
        attested,
    }
}

fn unheld(id: &str) -> Error {
    Error::bad_request("anoncreds-credential-unheld").with("id", id)
}
