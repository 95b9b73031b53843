//! Revocation registries: the list, one registry, and what can be done with it.

use std::collections::BTreeSet;

use selfsame_agent_pages::registries::{
    Comparison, DefinitionShown, RegistriesContent, RegistryShown,
};
use selfsame_agent_pages::registry::{RegistryAct, RegistryContent};
use selfsame_anoncreds_wallet::{PlacesByRegistry, RegistryStage, RegistryView};
use selfsame_catalogue::english;
use selfsame_driver::paging::{Paging, part};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Query};
use selfsame_http::listing::ListPosition;
use selfsame_pages::Frame;
use serde::Deserialize;
use url::form_urlencoded::byte_serialize;

use crate::here::{AgentHere, Revocation};
use crate::shown;

/// How many registries a page has. The ledger is asked for each.
const PAGE: usize = 20;

/// The list, newest first.
pub async fn list(agent: AgentHere, frame: Frame, Query(at): Query<ListPosition>) -> Handled {
    let mut all = agent.anoncreds().registries(&agent.tenant, None).await?;
    all.reverse();
    let paging = Paging {
        limit: Some(PAGE),
        ..at.into()
    };
    let listed = part(all, &paging, |one| one.rev_reg_id.clone())?;
    let content = RegistriesContent {
        base: agent.base(&frame),
        definitions: definitions(&agent, listed.items).await?,
        next: listed.next,
    };
    shown::page(frame, "Revocation registries", &content)
}

/// The registries by their definitions.
async fn definitions(agent: &AgentHere, all: Vec<RegistryView>) -> Handled<Vec<DefinitionShown>> {
    let mut definitions: Vec<DefinitionShown> = Vec::new();
    for view in all {
        let cred_def_id = view.cred_def_id.clone();
        let shown = compared(agent, view).await?;
        let mut known = definitions.iter_mut();
        match known.find(|one| one.cred_def_id == cred_def_id) {
            Some(known) => known.registries.push(shown),
            None => definitions.push(DefinitionShown {
                cred_def_id,
                registries: vec![shown],
            }),
        }
    }
    Ok(definitions)
}

/// A registry, compared with the ledger. A ledger that can't be asked is no error.
async fn compared(agent: &AgentHere, view: RegistryView) -> Handled<RegistryShown> {
    let (anoncreds, tenant, id) = (agent.anoncreds(), &agent.tenant, &view.rev_reg_id);
    let is_published = matches!(
        view.stage,
        RegistryStage::Ready | RegistryStage::Full | RegistryStage::Decommissioned
    );
    let compared = match is_published {
        false => Comparison::Unpublished,
        true => match anoncreds.registry_difference(tenant, id).await {
            Ok(None) => Comparison::Same,
            Ok(Some(difference)) => Comparison::Different(difference),
            Err(error) => Comparison::Unknown(english(&error.reason)),
        },
    };
    Ok(RegistryShown {
        given_out: anoncreds.places_given_out(tenant, id).await?,
        compared,
        view,
    })
}

/// Which registry is shown, and what was just done with it.
#[derive(Deserialize)]
pub struct RegistryQuery {
    #[serde(default)]
    id: String,
    after: Option<String>,
    done: Option<String>,
}

/// One registry.
pub async fn page(agent: AgentHere, frame: Frame, Query(asked): Query<RegistryQuery>) -> Handled {
    let (anoncreds, tenant) = (agent.anoncreds(), &agent.tenant);
    let view = anoncreds.registry_shown(tenant, &asked.id).await?;
    let (after, limit) = (asked.after, None);
    let paging = Paging { after, limit };
    let issued = anoncreds.issuances(tenant, &asked.id, &paging).await?;
    let title = format!("Registry {}", view.number);
    let content = RegistryContent {
        base: agent.base(&frame),
        shown: compared(&agent, view).await?,
        issued: issued.items,
        next: issued.next,
        done: asked.done.as_deref().and_then(RegistryAct::named),
    };
    shown::page(frame, &title, &content)
}

/// Revokes a credential: at once, or when the pending ones are published.
pub async fn revoke(agent: AgentHere, form: Form) -> Handled {
    let id = form.needed("id")?;
    let place = form.needed("place")?.parse();
    let wrong = |_| Problem::bad_request("field-missing").with("field", &"place");
    let publish = form.checked("publish");
    let revocation = Revocation {
        rev_reg_id: id.to_owned(),
        cred_rev_id: place.map_err(wrong)?,
        publish,
    };
    agent.host.revoke(&agent.tenant, &revocation).await?;
    done(id, if publish { "revoked" } else { "noted" })
}

/// Publishes the pending revocations of a registry.
pub async fn publish(agent: AgentHere, form: Form) -> Handled {
    let id = form.needed("id")?;
    let of = PlacesByRegistry::from([(id.to_owned(), BTreeSet::new())]);
    agent.host.publish(&agent.tenant, &of).await?;
    done(id, "published")
}

/// Takes back the pending revocations of a registry.
pub async fn clear(agent: AgentHere, form: Form) -> Handled {
    let id = form.needed("id")?;
    let of = PlacesByRegistry::from([(id.to_owned(), BTreeSet::new())]);
    agent.anoncreds().clear_pending(&agent.tenant, &of).await?;
    done(id, "cleared")
}

fn done(id: &str, act: &str) -> Handled {
    let id: String = byte_serialize(id.as_bytes()).collect();
    shown::led(&format!("/agent/registry?id={id}&done={act}"))
}
