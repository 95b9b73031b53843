//! Guards against performance regressions: counts of the Montgomery products and pairings of each operation, which are
//! free of noise.

use selfsame_bignum::pairing::counts;
use selfsame_bignum::products;

use super::*;
use crate::holder::{Expected, NamedSecret, create_credential_request, process_credential};
use crate::seed::PRIMES;

/// The number of products, and of pairs that go through a Miller loop.
fn counted(work: impl FnOnce()) -> (u64, u64) {
    let (before, pairs) = (products(), counts().miller_loops);
    work();
    (products() - before, counts().miller_loops - pairs)
}

/// The counts of each operation on a definition that is used once, or whose tables are built.
fn each(name: &str, tables: bool) -> (u64, u64) {
    let worlds = worlds();
    if tables {
        worlds.iter().for_each(|world| world.definition().prepare());
    }
    let legacy = &worlds[0];
    let secret = link_secret();
    match name.split_once(' ') {
        Some(("verify", name)) => {
            let presentation: Presentation = sample(&format!("presentations/{name}.json"));
            let asked = sample(&format!("presentations/{name}.request.json"));
            let known = known(&worlds);
            counted(|| assert!(verdict(&presentation, &asked, &known).verdict.is_valid()))
        }
        Some(("present", name)) => {
            let asked: PresentationRequest = sample(&format!("presentations/{name}.request.json"));
            let credential = sample("legacy/credential_processed.json");
            let shown = asked.requested_attributes.keys().map(|r| format!("+{r}"));
            let referents: Vec<String> = shown
                .chain(asked.requested_predicates.keys().cloned())
                .collect();
            let referents: Vec<&str> = referents.iter().map(String::as_str).collect();
            let chosen = [chosen(legacy, &credential, &referents)];
            counted(|| drop(present(&asked, &chosen).unwrap()))
        }
        _ if name == "request" => {
            let offer = sample("legacy/offer.json");
            let named = NamedSecret {
                secret: &secret,
                name: "default",
            };
            let (holder, definition) = (Holder::Entropy("e"), legacy.definition());
            counted(|| {
                let made = create_credential_request(holder, named, definition, &offer, &ctx(1));
                drop(made.unwrap())
            })
        }
        _ => {
            let credential: Credential = sample("legacy/credential.json");
            let metadata = sample("legacy/request_metadata.json");
            let expected = Expected {
                metadata: &metadata,
                link_secret: &secret,
                definition: legacy.definition(),
                registry: legacy.published(),
                encoding: Encoding::Recommended,
            };
            let (all, pairs) =
                counted(|| drop(process_credential(&credential, &expected).unwrap()));
            // The processor decides how the test of e is computed.
            let e = credential.signature.p_credential.e.clone();
            let (prime, _) = counted(|| assert!(PRIMES.is_prime(&e)));
            (all - prime, pairs)
        }
    }
}

#[test]
fn the_number_of_products_and_pairings_of_each_operation_stays_what_it_is() {
    take_told_path();
    let known = [
        ("request", (24_861, 0), (5_227, 0)),
        ("process", (7_302, 8), (3_941, 8)),
        ("present revealed", (7_523, 0), (1_918, 0)),
        ("present predicates", (35_134, 0), (18_976, 0)),
        ("verify revealed", (4_722, 0), (2_158, 0)),
        ("verify predicates", (33_867, 0), (23_749, 0)),
        ("verify non_revoked", (4_760, 11), (2_194, 11)),
    ];
    let found = known.map(|(name, ..)| (name, each(name, false), each(name, true)));
    assert_eq!(found, known);
}
