//! The OpenAPI description: what clients that are made of it rely on, its examples, and the reference page.

use std::collections::BTreeSet;
use std::path::PathBuf;

use http::StatusCode;
use selfsame_app::view::instance::{CopyMade, InstanceStatus, MasterKeyStatus, SignInLink};
use selfsame_approvals::view::{Approval, NewRefusal};
use selfsame_asked::definition::RequestDefinition;
use selfsame_asked::shown::RequestCheck;
use selfsame_audit::{AuditEntry, ChainAnchor};
use selfsame_book::BookMapping;
use selfsame_book_role::{HeldCredentials, LoadedEntry, NewCredentials, QuickLoad};
use selfsame_book_view::hooks::{
    AskedSubscription, NewSubscriber, RefusedEntry, ShownSubscriber, ShownSubscription,
    SubscriptionPatch,
};
use selfsame_book_view::mapping::PreviewedMapping;
use selfsame_book_view::{
    BookPolicy, EntryErasure, EntryProof, IndexRebuild, ProvenEntry, Tombstone, VerifiedEntry, v1,
    v2, v4,
};
use selfsame_core::organisation::look::{LookChange, LookView};
use selfsame_core::organisation::trust::{NewTrustedIssuer, TrustedIssuer};
use selfsame_core::organisation::view::{
    ErasureForecast, ErasureOrder, NewOrganisation, OrganisationChange, OrganisationView,
};
use selfsame_core::view::{InstanceDid, NewDid};
use selfsame_dc_api_role::{BrowserRequests, PageMessage};
use selfsame_driver::paging::Listing;
use selfsame_endpoints::remote_wallet::{RowMembers, RowsToken, ShownRow, SignInMembers};
use selfsame_http::route::openapi::Example;
use selfsame_identity::presentation::PresentationRules;
use selfsame_issuing_view::{IssuingList, ListResult, NewIssuingList};
use selfsame_ledger::view::{NodeHealth, RegistryClock, RegistryEntry, RegistryStatus};
use selfsame_oidc_endpoints::operator::{NewClientBody, NewInitialTokenBody};
use selfsame_openid::view::issuer::{
    Delegation, IssuedCredential, NewDelegation, NewOffer, NewOffers, NewStatus, NewStatuses, Offer,
};
use selfsame_openid::view::saved::{RequestOpening, SavedRequest};
use selfsame_openid::view::verifier::{
    CredentialVerdict, NewRequest, VerificationRequest, VerificationStatus,
};
use selfsame_operators::view::{
    AuthorityView, CreatedKey, KeyView, NewKey, NewOperatorInvitation, OperatorInvitation,
    PersonView, RolesChange,
};
use selfsame_types::form::application::{FilledApplication, NewApplication, ShownApplication};
use selfsame_types::import::ImportedType;
use selfsame_types::{TypeDefinition, TypeSummary};
use selfsame_wallet::CardGroups;
use selfsame_wallet::view::carried::{
    CarriedCredential, CarriedCredentials, NewWalletExport, TakenCredentials, WalletExport,
};
use selfsame_wallet::view::sent;
use selfsame_wallet::view::{
    AcceptOffer, AnswerRequest, Answered, Card, CardSummary, DidInfo, HistoryEntry, Invitation,
    KeyInfo, NewSession, OfferPreview, PreparedCredential, RequestPreview, SignInForOffer,
};
use selfsame_webhooks::{
    CreatedEndpoint, EndpointChange, EndpointView, EventReplay, NewEndpoint, Replayed,
    WebhookDelivery,
};
use selfsame_wire_ui::{NewWireSwitch, RecordedFlow, RecordedSummary, WireSwitch};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::instance::{Instance, get};
use crate::api::{dids, verifier};
use crate::router::openapi;

fn description() -> Value {
    serde_json::from_str(openapi::text()).unwrap()
}

/// The operations of the description, each with its address.
fn operations(description: &Value) -> Vec<(String, Value)> {
    let paths = description["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().clone();
        let named = methods.into_iter();
        named
            .map(|(method, operation)| (format!("{method} {path}"), operation))
            .collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

/// Where the description is committed.
fn committed() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json")
}

#[test]
fn each_operation_has_a_name_of_its_own() {
    let description = description();
    let mut names = BTreeSet::new();
    for (address, operation) in operations(&description) {
        let name = operation["operationId"].as_str().unwrap_or_default();
        let tag = operation["tags"][0].as_str().unwrap().replace('-', "_");
        assert!(
            name.starts_with(&format!("{tag}_")),
            "{address} is named {name:?} in {tag}"
        );
        assert!(
            name.chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'),
            "{name}"
        );
        assert!(names.insert(name.to_owned()), "{name} names two operations");
    }
    assert!(names.len() > 70, "{}", names.len());
}

#[test]
fn what_makes_something_is_described_with_the_status_that_it_has() {
    let description = description();
    for path in [
        "/oidc/par",
        "/oidc/register",
        "/vc-api/credentials/issue",
        "/vc-api/presentations",
    ] {
        let responses = &description["paths"][path]["post"]["responses"];
        assert!(responses["201"].is_object(), "{path}: {responses}");
        assert!(responses["200"].is_null(), "{path}: {responses}");
    }
    let verify = &description["paths"]["/vc-api/credentials/verify"]["post"]["responses"];
    assert!(verify["200"].is_object() && verify["201"].is_null());
}

#[test]
fn each_tag_is_described_and_used() {
    let description = description();
    let tags = description["tags"].as_array().unwrap();
    let described: BTreeSet<&str> = tags.iter().filter_map(|tag| tag["name"].as_str()).collect();
    let operations = operations(&description);
    let used: BTreeSet<&str> = operations
        .iter()
        .filter_map(|(_, operation)| operation["tags"][0].as_str())
        .collect();
    assert_eq!(described, used);
}

#[test]
fn each_operation_names_a_token_that_is_described() {
    let description = description();
    let schemes = description["components"]["securitySchemes"]
        .as_object()
        .unwrap();
    let mut seen = BTreeSet::new();
    for (address, operation) in operations(&description) {
        for alternative in operation["security"].as_array().unwrap() {
            for scheme in alternative.as_object().unwrap().keys() {
                assert!(schemes.contains_key(scheme), "{address}: {scheme}");
                seen.insert(scheme.clone());
            }
        }
    }
    assert_eq!(seen.len(), schemes.len(), "{seen:?}");
}

#[test]
fn each_json_body_of_the_api_has_an_example() {
    for (address, operation) in operations(&description()) {
        if !address.contains(" /api/") {
            continue;
        }
        let request = &operation["requestBody"]["content"]["application/json"];
        let responses = operation["responses"].as_object().unwrap();
        let answers = responses
            .iter()
            .filter(|(status, _)| status.starts_with('2'));
        let mut bodies: Vec<&Value> = answers
            .map(|(_, answer)| &answer["content"]["application/json"])
            .collect();
        bodies.push(request);
        for body in bodies.into_iter().filter(|body| body.is_object()) {
            assert!(body.get("example").is_some(), "{address}: {body}");
        }
    }
}

/// The members that are null are left out, since absent members mean the same.
fn without_null(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

/// Whether the bodies of the examples are those of these types.
struct Checked(std::collections::BTreeMap<String, Example>);

impl Checked {
    fn request<T: DeserializeOwned>(&mut self, name: &str) {
        let example = self.0.get_mut(name).unwrap_or_else(|| panic!("{name}"));
        let body = example.request.take().unwrap_or_else(|| panic!("{name}"));
        if let Err(error) = serde_json::from_value::<T>(body) {
            panic!("the request of {name}: {error}");
        }
    }

    /// Every member of the example is one of the type: it is written again as it was read.
    fn response<T: DeserializeOwned + Serialize>(&mut self, name: &str) {
        let example = self.0.get_mut(name).unwrap_or_else(|| panic!("{name}"));
        let mut body = example.response.take().unwrap_or_else(|| panic!("{name}"));
        let read = serde_json::from_value::<T>(body.clone());
        let read = read.unwrap_or_else(|error| panic!("the response of {name}: {error}"));
        let mut again = serde_json::to_value(read).unwrap();
        without_null(&mut again);
        without_null(&mut body);
        assert_eq!(again, body, "the response of {name}");
    }
}

/// A list without pages, as clients read it.
#[derive(serde::Deserialize, Serialize)]
struct Listed<T> {
    items: Vec<T>,
}

#[test]
fn each_example_is_a_body_of_its_type() {
    let mut examples = Checked(openapi::examples());
    issuers_examples(&mut examples);
    providers_examples(&mut examples);
    verifiers_examples(&mut examples);
    wallets_examples(&mut examples);
    organisations_examples(&mut examples);
    webhooks_examples(&mut examples);
    peoples_examples(&mut examples);
    others_examples(&mut examples);
    books_examples(&mut examples);
    wires_examples(&mut examples);
    remote_wallets_examples(&mut examples);
    let left = examples
        .0
        .iter()
        .filter(|(_, example)| example.request.is_some() || example.response.is_some());
    let left: Vec<&String> = left.map(|(name, _)| name).collect();
    assert!(left.is_empty(), "no type is named for {left:?}");
}

fn issuers_examples(examples: &mut Checked) {
    examples.request::<NewOffer>("issuer_create_offer");
    examples.response::<Offer>("issuer_create_offer");
    examples.request::<NewOffers>("issuer_create_offers");
    examples.response::<Listed<Offer>>("issuer_create_offers");
    examples.response::<Listing<Offer>>("issuer_list_offers");
    examples.response::<Offer>("issuer_get_offer");
    examples.response::<Listing<IssuedCredential>>("issuer_list_credentials");
    examples.response::<IssuedCredential>("issuer_get_credential");
    examples.request::<NewStatus>("issuer_set_status");
    examples.response::<IssuedCredential>("issuer_set_status");
    examples.request::<NewStatuses>("issuer_set_statuses");
    examples.response::<Listed<IssuedCredential>>("issuer_set_statuses");
    examples.request::<NewApplication>("issuer_begin_application");
    examples.response::<ShownApplication>("issuer_begin_application");
    examples.response::<Listing<ShownApplication>>("issuer_list_applications");
    examples.response::<ShownApplication>("issuer_get_application");
    examples.request::<FilledApplication>("issuer_offer_application");
    examples.response::<Offer>("issuer_offer_application");
    lists_examples(examples);
    examples.response::<Listing<Approval>>("issuer_list_approvals");
    for name in ["issuer_get_approval", "issuer_approve", "issuer_refuse"] {
        examples.response::<Approval>(name);
    }
    examples.request::<NewRefusal>("issuer_refuse");
    examples.request::<NewDelegation>("issuer_create_delegation");
    examples.response::<Delegation>("issuer_create_delegation");
    examples.response::<Listing<Delegation>>("issuer_list_delegations");
    examples.response::<Delegation>("issuer_withdraw_delegation");
}

fn wires_examples(examples: &mut Checked) {
    examples.request::<NewWireSwitch>("wire_set_switch");
    for name in ["wire_get_switch", "wire_set_switch"] {
        examples.response::<WireSwitch>(name);
    }
    for name in ["issuances", "presentations", "sign_ins"] {
        examples.response::<Listing<RecordedSummary>>(&format!("wire_list_{name}"));
    }
    examples.response::<Listing<RecordedSummary>>("wallet_list_flows");
    for name in [
        "wire_get_issuance",
        "wire_get_presentation",
        "wire_get_sign_in",
        "wallet_get_flow",
    ] {
        examples.response::<RecordedFlow>(name);
    }
}

fn lists_examples(examples: &mut Checked) {
    examples.request::<NewIssuingList>("issuer_begin_list");
    for name in ["begin", "get", "send", "check", "issue", "cancel"] {
        examples.response::<IssuingList>(&format!("issuer_{name}_list"));
    }
    examples.response::<Listing<IssuingList>>("issuer_list_lists");
    examples.response::<Listing<ListResult>>("issuer_list_results");
}

fn books_examples(examples: &mut Checked) {
    examples.response::<v4::ResultPage<v4::FoundTopic>>("book_search_topics");
    examples.response::<v4::FacetedSearch>("book_count_facets");
    examples.response::<v4::Suggestions>("book_autocomplete");
    examples.response::<Vec<v4::FuzzyTopic>>("book_search_fuzzily");
    examples.response::<v4::ShownTopic>("book_get_topic");
    examples.response::<Vec<v4::ShownSet>>("book_list_sets");
    examples.response::<v4::ShownCredential>("book_get_credential");
    examples.response::<VerifiedEntry>("book_verify_credential");
    examples.request::<EntryProof>("book_prove_credential");
    examples.response::<ProvenEntry>("book_prove_credential");
    examples.response::<v4::ResultPage<v4::ShownType>>("book_list_types");
    examples.request::<NewCredentials>("book_enter_credentials");
    examples.request::<QuickLoad>("book_quick_load");
    examples.request::<HeldCredentials>("book_enter_held");
    for name in [
        "book_enter_credentials",
        "book_quick_load",
        "book_enter_held",
    ] {
        examples.response::<Listed<LoadedEntry>>(name);
    }
    examples.request::<EntryErasure>("book_erase_entry");
    examples.response::<Tombstone>("book_erase_entry");
    older_books_examples(examples);
    subscribers_examples(examples);
    examples.request::<BookPolicy>("book_set_policy");
    for name in ["book_show_policy", "book_set_policy"] {
        examples.response::<BookPolicy>(name);
    }
    for name in ["book_rebuild_index", "book_show_rebuild"] {
        examples.response::<IndexRebuild>(name);
    }
}

fn subscribers_examples(examples: &mut Checked) {
    examples.request::<NewSubscriber>("book_hooks_register");
    examples.response::<ShownSubscriber>("book_hooks_register");
    examples.request::<AskedSubscription>("book_hooks_subscribe");
    examples.response::<ShownSubscription>("book_hooks_subscribe");
    examples.response::<Listing<ShownSubscriber>>("book_list_subscribers");
    examples.request::<SubscriptionPatch>("book_change_subscription");
    examples.response::<ShownSubscription>("book_change_subscription");
    examples.response::<Listing<RefusedEntry>>("book_list_refused");
    examples.response::<LoadedEntry>("book_enter_refused");
    examples.response::<BookMapping>("types_show_book");
    for name in ["types_replace_book", "types_preview_book"] {
        examples.request::<BookMapping>(name);
        examples.response::<PreviewedMapping>(name);
    }
}

fn older_books_examples(examples: &mut Checked) {
    examples.response::<Vec<v1::VerifiableOrg>>("book_v1_list_organisations");
    examples.response::<v1::VerifiableOrg>("book_v1_get_organisation");
    examples.response::<Vec<v1::VerifiableClaim>>("book_v1_list_claims");
    examples.response::<Vec<v1::OrgLocation>>("book_v1_list_locations");
    examples.response::<Vec<v1::DoingBusinessAs>>("book_v1_list_assumed_names");
    examples.response::<v2::VerifySuccess>("book_v1_verify_claim");
    examples.response::<v4::FacetedSearch>("book_v2_count_facets");
    for name in ["get_formatted_topic", "find_formatted_topic"] {
        examples.response::<v2::NamedTopic>(&format!("book_v2_{name}"));
    }
    for name in ["", "active_", "historical_"] {
        let name = format!("book_v2_list_{name}credentials");
        examples.response::<Vec<v2::ExpandedCredential>>(&name);
    }
    examples.response::<v2::ExpandedCredential>("book_v2_get_formatted_credential");
    examples.response::<v4::ShownTopic>("book_v2_get_topic");
    examples.response::<Vec<v4::ShownSet>>("book_v2_list_sets");
    examples.response::<Vec<v4::ShownTopic>>("book_v3_find_by_attribute");
    examples.response::<v4::ResultPage<v4::FoundTopic>>("book_v3_search_topics_new");
    for name in ["book_v2_get_language", "book_get_language"] {
        examples.response::<v2::TypeLanguage>(name);
    }
    for version in ["v2_", "v3_", ""] {
        let named = |what: &str| format!("book_{version}{what}");
        examples.response::<v4::ShownType>(&named("get_type"));
        examples.response::<v4::ResultPage<v4::ShownIssuer>>(&named("list_issuers"));
        examples.response::<v4::ShownIssuer>(&named("get_issuer"));
        examples.response::<v4::ResultPage<v4::ShownSchema>>(&named("list_schemas"));
        examples.response::<v4::ShownSchema>(&named("get_schema"));
        let found = named("search_credentials");
        examples.response::<v4::ResultPage<v2::ExpandedCredential>>(&found);
    }
    for version in ["v2", "v3"] {
        let named = |what: &str| format!("book_{version}_{what}");
        examples.response::<v4::ResultPage<v4::FoundTopic>>(&named("search_topics"));
        examples.response::<v4::Suggestions>(&named("autocomplete"));
        examples.response::<v4::ShownTopic>(&named("find_topic"));
        examples.response::<v4::ShownCredential>(&named("get_credential"));
        examples.response::<v4::ShownCredential>(&named("get_latest_credential"));
        examples.response::<v2::VerifySuccess>(&named("verify_credential"));
        examples.response::<v4::ResultPage<v4::ShownType>>(&named("list_types"));
    }
}

fn providers_examples(examples: &mut Checked) {
    examples.request::<NewClientBody>("sign_in_register_client");
    examples.request::<NewInitialTokenBody>("sign_in_make_initial_token");
    examples.request::<PresentationRules>("sign_in_set_wallet_rules");
    for name in ["sign_in_get_wallet_rules", "sign_in_set_wallet_rules"] {
        examples.response::<PresentationRules>(name);
    }
    for name in [
        "sign_in_register_client",
        "sign_in_get_client",
        "sign_in_list_clients",
        "sign_in_list_past",
        "sign_in_renew_client_secret",
        "sign_in_make_initial_token",
    ] {
        examples.response::<Value>(name);
    }
}

fn verifiers_examples(examples: &mut Checked) {
    examples.request::<NewRequest>("verifier_create_request");
    examples.response::<VerificationRequest>("verifier_create_request");
    examples.response::<Listing<VerificationStatus>>("verifier_list_requests");
    examples.response::<VerificationStatus>("verifier_get_request");
    examples.response::<VerificationStatus>("verifier_recheck_request");
    examples.response::<VerificationStatus>("verifier_revoke_credential");
    examples.response::<Listing<SavedRequest>>("verifier_list_saved");
    examples.request::<RequestDefinition>("verifier_save_new");
    examples.response::<SavedRequest>("verifier_save_new");
    examples.request::<RequestDefinition>("verifier_check_saved");
    examples.response::<RequestCheck>("verifier_check_saved");
    examples.response::<SavedRequest>("verifier_get_saved");
    examples.request::<RequestDefinition>("verifier_replace_saved");
    examples.response::<SavedRequest>("verifier_replace_saved");
    examples.request::<RequestOpening>("verifier_open_saved");
    examples.response::<VerificationRequest>("verifier_open_saved");
    examples.response::<BrowserRequests>("verifier_get_browser_request");
    examples.request::<PageMessage>("verifier_take_browser_answer");
    examples.response::<VerificationStatus>("verifier_take_browser_answer");
    examples.response::<Listing<TrustedIssuer>>("verifier_list_trusted_issuers");
    examples.request::<NewTrustedIssuer>("verifier_trust_issuer");
    examples.response::<TrustedIssuer>("verifier_trust_issuer");
    examples.request::<verifier::Bare>("verifier_verify_credential");
    examples.response::<CredentialVerdict>("verifier_verify_credential");
}

fn wallets_examples(examples: &mut Checked) {
    examples.request::<sent::NewAccount>("wallet_register");
    examples.response::<NewSession>("wallet_register");
    examples.request::<Value>("wallet_delete_account");
    examples.request::<sent::Credentials>("wallet_sign_in");
    examples.response::<NewSession>("wallet_sign_in");
    examples.request::<sent::NewInvitation>("wallet_create_invitation");
    examples.response::<Invitation>("wallet_create_invitation");
    examples.request::<sent::OfferLink>("wallet_preview_offer");
    examples.response::<OfferPreview>("wallet_preview_offer");
    examples.request::<AcceptOffer>("wallet_accept_offer");
    examples.response::<Listed<CardSummary>>("wallet_accept_offer");
    examples.request::<AcceptOffer>("wallet_begin_sign_in");
    examples.response::<SignInForOffer>("wallet_begin_sign_in");
    examples.request::<sent::SignInReturn>("wallet_finish_sign_in");
    examples.response::<Listed<CardSummary>>("wallet_finish_sign_in");
    examples.request::<sent::RequestLink>("wallet_preview_request");
    examples.response::<RequestPreview>("wallet_preview_request");
    examples.request::<PageMessage>("wallet_preview_browser_request");
    examples.response::<RequestPreview>("wallet_preview_browser_request");
    examples.request::<AnswerRequest>("wallet_answer_request");
    examples.response::<Answered>("wallet_answer_request");
    examples.request::<sent::RequestLink>("wallet_decline_request");
    examples.response::<Answered>("wallet_decline_request");
    examples.response::<Listing<PreparedCredential>>("wallet_list_preparing");
    examples.response::<Listing<CardSummary>>("wallet_list_cards");
    examples.response::<CardGroups>("wallet_list_groups");
    examples.response::<Card>("wallet_get_card");
    examples.request::<NewWalletExport>("wallet_begin_export");
    examples.response::<WalletExport>("wallet_begin_export");
    examples.response::<Listing<CarriedCredential>>("wallet_read_export");
    examples.request::<CarriedCredentials>("wallet_import_cards");
    examples.response::<TakenCredentials>("wallet_import_cards");
    examples.response::<Listing<HistoryEntry>>("wallet_list_history");
    examples.response::<Listing<KeyInfo>>("wallet_list_keys");
    examples.request::<sent::NewKey>("wallet_create_key");
    examples.response::<KeyInfo>("wallet_create_key");
    examples.response::<Listing<DidInfo>>("wallet_list_dids");
    examples.request::<NewDid>("wallet_create_did");
    examples.response::<DidInfo>("wallet_create_did");
}

fn peoples_examples(examples: &mut Checked) {
    examples.response::<Listing<PersonView>>("people_list");
    examples.request::<NewOperatorInvitation>("people_invite");
    examples.response::<OperatorInvitation>("people_invite");
    examples.request::<RolesChange>("people_set_roles");
    examples.response::<PersonView>("people_set_roles");
    examples.response::<Listing<KeyView>>("people_keys");
    examples.request::<NewKey>("people_create_key");
    examples.response::<CreatedKey>("people_create_key");
    examples.response::<AuthorityView>("people_me");
    examples.response::<Listing<AuditEntry>>("audit_list");
    examples.response::<Listing<ChainAnchor>>("audit_anchors");
}

fn organisations_examples(examples: &mut Checked) {
    examples.request::<NewOrganisation>("organisations_create");
    examples.response::<OrganisationView>("organisations_create");
    examples.response::<Listing<OrganisationView>>("organisations_list");
    examples.response::<OrganisationView>("organisations_get");
    examples.request::<OrganisationChange>("organisations_change");
    examples.response::<OrganisationView>("organisations_change");
    examples.response::<ErasureForecast>("organisations_forecast_erasure");
    examples.request::<ErasureOrder>("organisations_erase");
    examples.response::<OrganisationView>("organisations_erase");
    examples.response::<LookView>("organisations_get_look");
    examples.request::<LookChange>("organisations_change_look");
    examples.response::<LookView>("organisations_change_look");
    examples.response::<Listing<TypeSummary>>("types_list");
    examples.request::<TypeDefinition>("types_create");
    examples.response::<TypeSummary>("types_create");
    examples.response::<TypeSummary>("types_show");
    examples.request::<TypeDefinition>("types_replace");
    examples.response::<TypeSummary>("types_replace");
    examples.response::<TypeSummary>("types_publish");
    examples.response::<TypeSummary>("types_retire");
    examples.request::<Value>("types_import");
    examples.response::<ImportedType>("types_import");
}

fn webhooks_examples(examples: &mut Checked) {
    examples.response::<Listing<EndpointView>>("webhooks_list");
    examples.request::<NewEndpoint>("webhooks_create");
    examples.response::<CreatedEndpoint>("webhooks_create");
    examples.response::<EndpointView>("webhooks_one");
    examples.request::<EndpointChange>("webhooks_change");
    examples.response::<EndpointView>("webhooks_change");
    examples.response::<CreatedEndpoint>("webhooks_rotate");
    examples.response::<WebhookDelivery>("webhooks_test");
    examples.request::<EventReplay>("webhooks_replay");
    examples.response::<Replayed>("webhooks_replay");
    examples.response::<Listing<WebhookDelivery>>("webhooks_deliveries");
    examples.response::<WebhookDelivery>("webhooks_resend");
}

fn remote_wallets_examples(examples: &mut Checked) {
    examples.request::<SignInMembers>("remote_wallet_sign_in");
    examples.response::<RowsToken>("remote_wallet_sign_in");
    for name in ["create", "replace", "change"] {
        examples.request::<RowMembers>(&format!("remote_wallet_{name}"));
    }
    for name in ["create", "show", "replace", "change"] {
        examples.response::<ShownRow>(&format!("remote_wallet_{name}"));
    }
    for name in ["list", "find"] {
        examples.response::<Vec<ShownRow>>(&format!("remote_wallet_{name}"));
    }
}

fn others_examples(examples: &mut Checked) {
    examples.response::<InstanceStatus>("instance_get_status");
    examples.response::<CopyMade>("instance_create_backup");
    examples.response::<SignInLink>("instance_create_sign_in_link");
    examples.response::<MasterKeyStatus>("instance_get_master_key");
    examples.response::<MasterKeyStatus>("instance_rotate_master_key");
    examples.request::<NewDid>("dids_create");
    examples.response::<InstanceDid>("dids_create");
    examples.response::<Listing<InstanceDid>>("dids_list");
    examples.request::<dids::Rotation>("dids_rotate");
    examples.response::<InstanceDid>("dids_rotate");
    examples.response::<InstanceDid>("dids_deactivate");
    examples.response::<RegistryStatus>("registry_get_status");
    examples.response::<NodeHealth>("registry_get_node");
    examples.response::<RegistryClock>("registry_get_clock");
    examples.response::<RegistryClock>("registry_confirm_clock");
    examples.response::<Listing<RegistryEntry>>("registry_list_entries");
    examples.response::<Listing<RegistryEntry>>("registry_list_history");
}

#[test]
fn the_committed_description_is_what_is_served() {
    let committed = std::fs::read_to_string(committed()).unwrap();
    assert!(
        committed.trim_end() == openapi::text(),
        "docs/openapi.json is out of date: cargo xtask openapi"
    );
}

#[test]
#[ignore = "writes docs/openapi.json: cargo xtask openapi runs it"]
fn write_the_description() {
    std::fs::write(committed(), format!("{}\n", openapi::text())).unwrap();
}

#[tokio::test]
async fn the_reference_shows_each_operation_and_each_type() {
    let instance = Instance::start().await;
    let page = instance.call(get("/api")).await;
    assert_eq!(page.status, StatusCode::OK);
    let description = description();
    for (address, operation) in operations(&description) {
        let name = operation["operationId"].as_str().unwrap();
        assert!(page.body.contains(&format!("id=\"{name}\"")), "{address}");
    }
    for name in description["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys()
    {
        assert!(page.body.contains(&format!("id=\"type-{name}\"")), "{name}");
    }
    for link in page.body.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(page.body.contains(&format!("id=\"{target}\"")), "{target}");
    }
    assert!(page.body.contains("href=\"/openapi.json\""));
    assert!(!page.body.contains("<style") && !page.body.contains(" style="));
}

#[tokio::test]
async fn the_calls_of_the_reference_reach_their_addresses() {
    let instance = Instance::start().await;
    let page = instance.call(get("/api")).await.body;
    let expected = "curl -X POST &#39;http://127.0.0.1:7380/api/issuer/offers&#39;";
    assert!(page.contains(expected), "no call creates an offer");
    assert!(page.contains("The operator’s token") && page.contains("A person’s session token"));
}
