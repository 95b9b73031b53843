//! Claims through the six issuers into the book: each business proves what it has with its wallet, gets the next permit, and
//! the permit is entered into the book.

use std::time::Instant;

use selfsame_bench::{Error, Progress, flow, tasks};
use selfsame_crypto::encoding::base64url_decode;
use serde_json::{Value, json};

use super::site::{BookSite, KEEPER, TokenApi, failed, lacks};
use crate::business::Business;
use crate::permits::{PERMITS, Permit};
use crate::walk::Walker;

/// The seed of the businesses that walk; those that are loaded have another one.
const SEED: u64 = 1;

/// Which businesses walk, and how many at once.
#[derive(Clone, Copy)]
pub(super) struct Walks {
    /// The number of threads.
    pub threads: usize,
    /// The number of businesses.
    pub businesses: usize,
    /// The number of the first one.
    pub first: u64,
}

/// The result of walks.
pub(super) struct WalkedClaims {
    /// Claims a second.
    pub rate: f64,
    /// The claims as the book has them.
    pub entered: Vec<EnteredClaim>,
}

/// A credential in the book.
#[derive(Clone)]
pub(super) struct EnteredClaim {
    /// Its identifier in the book.
    pub credential_id: String,
    /// Its format.
    pub format: String,
    /// Its type.
    pub vct: String,
    /// The names of its claims.
    pub claims: Vec<String>,
}

/// Lets businesses walk. Their people are registered before the time runs.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub(super) async fn measure(
    site: &BookSite,
    walks: Walks,
    progress: &dyn Progress,
) -> Result<WalkedClaims, Error> {
    let client = &site.operator.client;
    let first = usize::try_from(walks.first).unwrap_or_default();
    let people = flow::register_all(client, first..first + walks.businesses, progress).await?;
    let part = format!("claims by {} at once", walks.threads);
    progress.begin(&part, walks.businesses as u64);
    let walking = (walks.first..).zip(people).map(|(number, token)| {
        let walk = BusinessWalk {
            operator: site.operator.clone(),
            wallet: TokenApi {
                token,
                ..site.operator.clone()
            },
            business: Business::of(SEED, number),
        };
        async move { walk.walk().await }
    });
    let began = Instant::now();
    let entered = tasks::all(walking, walks.threads, progress).await?;
    let took = began.elapsed().as_secs_f64();
    let entered: Vec<EnteredClaim> = entered.into_iter().flatten().collect();
    Ok(WalkedClaims {
        rate: entered.len() as f64 / took.max(f64::EPSILON),
        entered,
    })
}

/// A business with its wallet.
struct BusinessWalk {
    operator: TokenApi,
    wallet: TokenApi,
    business: Business,
}

impl BusinessWalk {
    async fn walk(&self) -> Result<Vec<EnteredClaim>, Error> {
        let walker = Walker {
            operator: &self.operator,
            wallet: &self.wallet,
            business: &self.business,
        };
        let mut entered = Vec::with_capacity(PERMITS.len());
        for permit in &PERMITS {
            walker.step(permit).await.map_err(failed)?;
            entered.push(self.enter(permit).await?);
        }
        Ok(entered)
    }

    /// Enters the credential of a permit into the book.
    async fn enter(&self, permit: &Permit) -> Result<EnteredClaim, Error> {
        let vct = permit.booked().and_then(|definition| definition.vct);
        let vct = vct.unwrap_or_default();
        let kept = self.kept(&vct).await?;
        let new = json!({"credentials": [kept.credential]});
        let path = "/api/book/credentials";
        let answer = self.operator.post(KEEPER, path, &new).await?;
        let id = answer["items"][0]["credential_id"].as_str();
        let id = id.filter(|_| answer["items"][0]["new"] == true);
        Ok(EnteredClaim {
            credential_id: id.ok_or_else(|| lacks(path, &answer))?.to_owned(),
            claims: disclosed(&kept.credential),
            format: kept.format,
            vct,
        })
    }

    /// The credential of a type, from what the wallet keeps.
    async fn kept(&self, vct: &str) -> Result<WalletCredential, Error> {
        let path = "/api/wallet/everything";
        let wallet = &self.wallet;
        let kept = wallet.client.get_bytes_as(path, &wallet.token).await?;
        let entries = kept.split(|byte| *byte == b'\n');
        let mut entries = entries.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        let found = entries.find_map(|entry| {
            let (summary, credential) = (&entry["entry"]["summary"], &entry["entry"]["credential"]);
            let types = summary["types"].as_array()?;
            let is_it = types.iter().any(|one| one == vct);
            is_it.then_some(WalletCredential {
                format: summary["format"].as_str()?.to_owned(),
                credential: credential.as_str()?.to_owned(),
            })
        });
        found.ok_or_else(|| lacks(path, &Value::from(vct)))
    }
}

/// A credential as its issuer signed it, with its format.
struct WalletCredential {
    format: String,
    credential: String,
}

/// The names of the claims that an SD-JWT discloses (RFC 9901 §4.2.1): members of the outermost object.
fn disclosed(credential: &str) -> Vec<String> {
    let disclosures = credential.split('~').skip(1);
    let name = |disclosure: &str| {
        let bytes = base64url_decode(disclosure).ok()?;
        let (_, name, _): (String, String, Value) = serde_json::from_slice(&bytes).ok()?;
        Some(name)
    };
    disclosures.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::encoding::base64url_encode;

    use super::*;

    #[test]
    fn the_names_of_disclosed_claims_are_read() {
        let one = base64url_encode(br#"["salt", "city", "Surrey"]"#);
        let other = base64url_encode(br#"["salt", "seats", 7]"#);
        let element = base64url_encode(br#"["salt", "of a list"]"#);
        let credential = format!("a.b.c~{one}~{element}~{other}~");
        assert_eq!(disclosed(&credential), ["city", "seats"]);
    }
}
