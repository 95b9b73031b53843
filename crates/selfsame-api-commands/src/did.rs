//! `selfsame did`: the instance's own DIDs, and the resolution of any DID.

use clap::{Args, Subcommand};
use selfsame_core::view::{InstanceDid, NewDid};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde_json::Value;

use crate::called::{Instance, segment};
use crate::client::AllItems;

/// Create, show, resolve, update and deactivate DIDs.
#[derive(Args)]
#[command(after_help = "Example: selfsame did new --method selfsame
         selfsame did resolve did:web:example.org")]
pub struct Did {
    #[command(subcommand)]
    verb: DidVerb,
}

#[derive(Subcommand)]
enum DidVerb {
    /// Create a DID whose key stays in the instance's key store.
    #[command(after_help = "Example: selfsame did new --method web --kind Ed25519
         selfsame did new --method webvh     # hosted here, with a log that proves each change")]
    New {
        /// `key`, `jwk`, `web`, `webvh`, `selfsame` or `cheqd`.
        #[arg(long, default_value = "selfsame")]
        method: String,
        /// `P-256` or `Ed25519`; default: P-256, or Ed25519 for did:cheqd, which supports only that.
        #[arg(long)]
        kind: Option<String>,
        #[command(flatten)]
        instance: Instance,
    },
    /// Show the instance's own DIDs.
    #[command(after_help = "Example: selfsame did show --json")]
    Show {
        #[command(flatten)]
        instance: Instance,
    },
    /// Resolve a DID of any supported method, one of its versions, or a resource linked to it.
    #[command(after_help = "Example: selfsame did resolve did:web:example.org
         selfsame did resolve 'did:selfsame:…?versionId=1'                        its first version
         selfsame did resolve 'did:selfsame:…?versionTime=2026-11-01T12:00:00Z'   its version at that time
         selfsame did resolve did:webvh:…:example.org/whois                       where its presentation is
Exit code 1 if the DID does not exist or is deactivated; 2 if it can't be resolved now, or the request is invalid.")]
    Resolve {
        /// The DID, or a DID URL with a path or a query; a part of the document (`#…`) is found in the document.
        did: String,
        #[command(flatten)]
        instance: Instance,
    },
    /// Give a DID of the instance a new key; the old key stays in the DID's history.
    #[command(after_help = "Example: selfsame did update did:selfsame:…")]
    Update {
        /// The DID.
        did: String,
        #[command(flatten)]
        instance: Instance,
    },
    /// Deactivate a DID of the instance permanently.
    #[command(after_help = "Example: selfsame did deactivate did:selfsame:…")]
    Deactivate {
        /// The DID.
        did: String,
        #[command(flatten)]
        instance: Instance,
    },
}

impl Did {
    /// Runs the subcommand.
    pub async fn run(self) -> End {
        match self.verb {
            DidVerb::New {
                method,
                kind,
                instance,
            } => {
                let new = NewDid { method, kind };
                let did: InstanceDid = instance.operator()?.post("/api/dids", &new).await?;
                output::either(instance.json, &did, one);
            }
            DidVerb::Show { instance } => {
                let dids: AllItems<InstanceDid> = instance.operator()?.all("/api/dids").await?;
                output::either(instance.json, &dids, |dids| {
                    dids.items.iter().flat_map(one).collect()
                });
            }
            DidVerb::Resolve { did, instance } => return resolve(&did, &instance).await,
            DidVerb::Update { did, instance } => {
                let path = format!("/api/dids/{}", segment(&did));
                let did: InstanceDid = instance
                    .operator()?
                    .put(&path, &serde_json::json!({}))
                    .await
                    .map_err(which)?;
                output::either(instance.json, &did, one);
            }
            DidVerb::Deactivate { did, instance } => {
                let path = format!("/api/dids/{}", segment(&did));
                let did: InstanceDid = instance.operator()?.delete(&path).await.map_err(which)?;
                output::either(instance.json, &did, one);
            }
        }
        Ok(Answer::Yes)
    }
}

async fn resolve(did: &str, instance: &Instance) -> End {
    let path = resolution(did)?;
    let (status, result): (u16, Value) = instance.anybody()?.get_any(&path).await?;
    output::either(instance.json, &result, |result| {
        serde_json::to_string_pretty(result)
            .map(|text| vec![text])
            .unwrap_or_default()
    });
    match status {
        200 => Ok(Answer::Yes),
        // DID Resolution §7.1: not a valid DID, not a valid time, or an unsupported method.
        400 | 406 | 501 => Err(Failure::environment("the instance can't resolve this")
            .hint("a DID begins with its method, such as did:web:example.org; a time is written as 2026-11-01T12:00:00Z")),
        // Resolution is unavailable at this moment.
        500 | 503 => {
            let reason = result["didResolutionMetadata"]["reason"].as_str();
            let what = match reason {
                Some(reason) => format!("the DID can't be resolved now: {reason}"),
                None => "the DID can't be resolved now".to_owned(),
            };
            Err(Failure::environment(what)
                .hint("the instance's log has details; try again later"))
        }
        _ => Ok(Answer::No),
    }
}

/// The path at which the instance resolves it.
fn resolution(did: &str) -> Result<String, Failure> {
    // DID Core 1.0 §3.2.2: a fragment is dereferenced in the document, by the client.
    if let Some((did, fragment)) = did.split_once('#') {
        return Err(Failure::environment(format!(
            "`#{fragment}` names a part of a DID document; only whole documents are resolved"
        ))
        .hint(format!(
            "resolve {did}, and look for the id that ends with #{fragment} in its document"
        )));
    }
    let (did, query) = did.split_once('?').unwrap_or((did, ""));
    if did.is_empty() {
        return Err(Failure::environment("the URL contains no DID")
            .hint("a DID begins with its method, such as did:web:example.org"));
    }
    let path = format!("/1.0/identifiers/{}", segment(did));
    Ok(match query {
        "" => path,
        query => format!("{path}?{query}"),
    })
}

/// Adds to the failure of a change which DIDs can be changed.
fn which(failure: Failure) -> Failure {
    failure.or_hint("`selfsame did show` lists the DIDs of the instance")
}

fn one(did: &InstanceDid) -> Vec<String> {
    vec![format!("{}  {}  key {}", did.did, did.state, did.key)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_did_is_resolved_with_its_version_and_what_is_no_document_is_refused_with_a_hint() {
        let resolved = resolution("did:web:a.example?versionId=1").unwrap();
        assert_eq!(
            resolved,
            "/1.0/identifiers/did%3Aweb%3Aa.example?versionId=1"
        );
        for (wrong, hint) in [
            ("", "did:web:"),
            ("?versionId=1", "did:web:"),
            ("did:web:a.example#key-1", "resolve did:web:a.example,"),
        ] {
            let failure = resolution(wrong).unwrap_err();
            assert!(failure.what_to_do().unwrap().contains(hint), "{failure:?}");
        }
    }
}
