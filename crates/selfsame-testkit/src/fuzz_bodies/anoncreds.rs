//! Properties of AnonCreds messages, and of a verifier's verdict on a presentation.

use std::sync::LazyLock;

use selfsame_anoncreds::cl::{KeyCorrectnessProof, LinkSecret};
use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{
    Credential, CredentialDefinition, CredentialDefinitionPrivate, CredentialOffer,
    CredentialRequest, CredentialRequestMetadata, LegacyDelta, LegacyRegistry, Message,
    Presentation, PresentationRequest, RevocationRegistryDefinition, RevocationRegistryPrivate,
    RevocationState, RevocationStatusList, Schema, Text as _,
};
use selfsame_anoncreds::verdict::Outcome;
use selfsame_anoncreds::verifier::{KnownObjects, Policy, verify_presentation};
use serde_json::Value;

use super::parts;

macro_rules! sample {
    ($name:literal) => {
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../vectors/anoncreds/",
            $name,
            ".json"
        ))
        .as_slice()
    };
}

/// AnonCreds messages and the link secret: a parsed value is valid, has one encoding, and parses back to itself.
pub fn anoncreds(data: &[u8]) -> bool {
    [
        returns::<Schema>,
        returns::<CredentialDefinition>,
        returns::<CredentialDefinitionPrivate>,
        returns::<KeyCorrectnessProof>,
        returns::<CredentialOffer>,
        returns::<CredentialRequest>,
        returns::<CredentialRequestMetadata>,
        returns::<Credential>,
        returns::<RevocationRegistryDefinition>,
        returns::<RevocationRegistryPrivate>,
        returns::<RevocationStatusList>,
        returns::<RevocationState>,
        returns::<LegacyRegistry>,
        returns::<LegacyDelta>,
        returns::<PresentationRequest>,
        returns::<Presentation>,
    ]
    .iter()
    .fold(link_secret(data), |read, returns| read | returns(data))
}

/// The link secret as the decimal number that wallets store.
fn link_secret(data: &[u8]) -> bool {
    let digits = std::str::from_utf8(data).unwrap_or_default();
    let Ok(secret) = LinkSecret::from_decimal(digits) else {
        return false;
    };
    assert_eq!(*secret.to_decimal(), digits, "it has one form");
    true
}

fn returns<T: Message + PartialEq>(data: &[u8]) -> bool {
    let Ok(message) = T::from_json(data) else {
        return false;
    };
    message.validate().expect("what was read is valid");
    let written = message.to_json().expect("what was read can be written");
    let again = T::from_json(written.as_json().as_bytes()).expect("what we write can be read");
    assert!(again == message, "it reads back as itself");
    let twice = again.to_json().expect("it can be written again");
    assert_eq!(written.as_json(), twice.as_json(), "it has one form");
    true
}

/// A presentation and, after a zero byte, its request. There is always a verdict. The presentation is valid only if
/// every rule holds, and any change to the proof or the identifiers is noticed.
pub fn presentation(data: &[u8]) -> bool {
    let mut parts = parts(data);
    let mut part = || parts.next().unwrap_or_default();
    let (Ok(presentation), Ok(request)) = (
        Presentation::from_json(part()),
        PresentationRequest::from_json(part()),
    ) else {
        return false;
    };
    let known = KnownObjects {
        schemas: [(GENUINE.identifiers[0].schema_id.clone(), &*SCHEMA)].into(),
        definitions: [(GENUINE.identifiers[0].cred_def_id.clone(), &*DEFINITION)].into(),
        registries: GENUINE.identifiers[0]
            .rev_reg_id
            .iter()
            .map(|id| (id.clone(), &*REGISTRY))
            .collect(),
        // Without the list, verification stops before the mathematics. That is slow, so only one input in sixteen gets
        // the list.
        lists: (sum(data).is_multiple_of(16))
            .then_some(&*LIST)
            .into_iter()
            .collect(),
        ..KnownObjects::default()
    };
    let judged = verify_presentation(&presentation, &request, &known, &Policy::default());
    let verdict = judged.verdict;
    let all = verdict.rules.iter().all(|rule| rule.passed == Some(true));
    assert_eq!(verdict.outcome == Outcome::Valid, all);
    if verdict.is_valid() {
        assert_eq!(
            presentation.proof, GENUINE.proof,
            "only the genuine proof holds"
        );
        assert_eq!(presentation.identifiers, GENUINE.identifiers);
        let asked = request.requested_attributes.len() + request.requested_predicates.len();
        assert_eq!(judged.answers.len(), asked);
    } else {
        assert!(judged.answers.is_empty());
    }
    true
}

fn sum(data: &[u8]) -> usize {
    data.iter().map(|byte| usize::from(*byte)).sum()
}

fn read<T: Message>(text: &[u8]) -> T {
    T::from_json(text).expect("the sample is read")
}

static GENUINE: LazyLock<Presentation> =
    LazyLock::new(|| read(sample!("presentations/non_revoked")));
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| read(sample!("legacy/schema")));
static REGISTRY: LazyLock<RevocationRegistryDefinition> =
    LazyLock::new(|| read(sample!("legacy/rev_reg_def")));
static LIST: LazyLock<RevocationStatusList> = LazyLock::new(|| read(sample!("legacy/status_list")));
static DEFINITION: LazyLock<PreparedDefinition> = LazyLock::new(|| {
    PreparedDefinition::new(read(sample!("legacy/cred_def"))).expect("the sample's key is right")
});

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let samples = [
        sample!("legacy/schema"),
        sample!("qualified/cred_def"),
        sample!("qualified/cred_def_private"),
        sample!("qualified/key_correctness_proof"),
        sample!("qualified/offer"),
        sample!("legacy/request"),
        sample!("legacy/request_metadata"),
        sample!("qualified/credential"),
        sample!("legacy/rev_reg_def"),
        sample!("legacy/rev_reg_def_private"),
        sample!("legacy/status_list_updated"),
        sample!("legacy/rev_state"),
        sample!("presentations/unrevealed_group_self_attested.request"),
        sample!("presentations/predicates.request"),
        sample!("presentations/revealed"),
    ];
    let mut seeds: Vec<_> = samples.into_iter().map(<[u8]>::to_vec).collect();
    seeds.push(
        b"98765432109876543210987654321098765432109876543210987654321098765432109876543".to_vec(),
    );
    let list: Value = serde_json::from_slice(sample!("legacy/status_list")).expect("it is JSON");
    let value = serde_json::json!({"accum": list["currentAccumulator"], "issued": [1, 3]});
    let delta = serde_json::json!({"ver": "1.0", "value": value});
    seeds.push(delta.to_string().into_bytes());
    seeds
}

pub(super) fn presentation_seeds() -> Vec<Vec<u8>> {
    let request = sample!("presentations/non_revoked.request");
    vec![[sample!("presentations/non_revoked"), request].join(&0)]
}
