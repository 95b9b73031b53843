//! Tests of the verifier: the requests it makes, the answers it accepts, and its verdicts on them.

use selfsame_credential::{
    Evidence, Need, Signer, Step,
    verdict::{Outcome, Policy, Trust},
};
use selfsame_crypto::{KeyType, ctx::Ctx, encoding::base64url_encode, jws::Compact};
use selfsame_did::Did;
use selfsame_openid4vc::dcql::{DcqlQuery, authority_keys};
use selfsame_openid4vc::{
    Error,
    verifier::{
        self, AnsweredRequest, Created, Input, Judged, JudgedCredential, Reply, VerificationState,
        request::{NewRequest, create, link, wallet_nonce},
    },
    wire::{
        client_metadata::ClientMetadata,
        request::{ClientId, RequestUriMethod},
        response::{AuthorizationResponse, Receipt, VpResponse, VpToken},
    },
};
use serde_json::{Value, json};

use crate::{
    holder::{Authority, Card, presentations},
    world::{Driver, Issuer, NOW, Party, SD_JWT, VCT, W3C, at, ctx, policy, stored, url},
};

/// A verifier that is identified by its DID.
pub struct Verifier {
    pub party: Party,
}

impl Verifier {
    pub fn new() -> Self {
        Self {
            party: Party::new(KeyType::P256),
        }
    }

    pub fn new_request(&self, query: &Value) -> NewRequest {
        NewRequest {
            client: ClientId::parse(&format!("decentralized_identifier:{}", self.party.did))
                .unwrap(),
            response_uri: url("https://verifier.example/responses/1"),
            request_uri: Some(url("https://verifier.example/requests/1")),
            request_uri_method: RequestUriMethod::Get,
            redirect_uri: None,
            query: DcqlQuery::parse(query).unwrap(),
            metadata: metadata(),
            purpose: None,
            transaction_data: Vec::new(),
            encrypted: false,
            lifetime: 300,
        }
    }

    /// A request whose parameters are in the link.
    pub fn plain_request(query: &Value) -> NewRequest {
        let response_uri = "https://verifier.example/responses/1";
        NewRequest {
            client: ClientId::parse(&format!("redirect_uri:{response_uri}")).unwrap(),
            request_uri: None,
            ..Self::new().new_request(query)
        }
    }

    pub fn fetched(
        &self,
        new: NewRequest,
        wallet_nonce: Option<&str>,
    ) -> (VerificationState, String) {
        let created = VerificationState::Created(create(new, &ctx(50)).unwrap());
        let input = Input::Fetch {
            signer: &self.party.signer(),
            wallet_nonce,
        };
        let (state, reply) = self.step(&created, input, &ctx(51)).unwrap();
        match reply {
            Some(Reply::RequestObject(object)) => (state, object),
            other => panic!("no request object: {other:?}"),
        }
    }

    pub fn step(
        &self,
        state: &VerificationState,
        input: Input<'_>,
        ctx: &Ctx,
    ) -> Result<(VerificationState, Option<Reply>), Error> {
        let state = stored(state);
        let mut driver = Driver::new(&[&self.party]);
        let next = driver.run(|evidence| verifier::step(&state, input, evidence, ctx))?;
        Ok((next.state, next.reply))
    }

    /// Repeats the answer until the request is closed: an answer that does not verify leaves it open at first.
    pub fn answer(
        &self,
        state: &VerificationState,
        vp_token: VpToken,
    ) -> Result<Box<AnsweredRequest>, Error> {
        let mut state = state.clone();
        for _ in 0..5 {
            state = self.answered(&state, &vp_token)?.0;
            if let VerificationState::Answered(answered) = state {
                return Ok(answered);
            }
        }
        panic!("not answered: {state:?}")
    }

    /// Answers once.
    fn answered(
        &self,
        state: &VerificationState,
        vp_token: &VpToken,
    ) -> Result<(VerificationState, Option<Reply>), Error> {
        let answer = VpResponse::Presented(vp_token.clone());
        let response = AuthorizationResponse {
            state: Some(state.asked().state.clone()),
            answer,
        };
        let input = Input::Response {
            response: &response,
            policy: &policy(),
        };
        self.step(state, input, &ctx(52))
    }
}

pub fn metadata() -> ClientMetadata {
    let formats = json!({"vp_formats_supported": {
        "dc+sd-jwt": {"sd-jwt_alg_values": ["EdDSA", "ES256"], "kb-jwt_alg_values": ["EdDSA", "ES256"]},
        "jwt_vc_json": {"alg_values": ["EdDSA", "ES256"]},
        "vc+jwt": {"alg_values": ["EdDSA", "ES256"]},
        "ldp_vc": {
            "proof_type_values": ["DataIntegrityProof"],
            "cryptosuite_values": ["eddsa-rdfc-2022", "ecdsa-rdfc-2019"],
        },
    }});
    serde_json::from_value(formats).unwrap()
}

pub fn query_sd_jwt() -> Value {
    json!({"credentials": [{
        "id": "vaccination", "format": "dc+sd-jwt", "meta": {"vct_values": [VCT]},
        "claims": [{"path": ["vaccine"]}],
    }]})
}

pub fn query_w3c() -> Value {
    json!({"credentials": [{
        "id": "vaccination", "format": "jwt_vc_json",
        "meta": {"type_values": [["VaccinationCredential"]]},
        "claims": [{"path": ["credentialSubject", "vaccine"]}],
    }]})
}

fn refused(result: Result<impl std::fmt::Debug, Error>) {
    match result {
        Err(error) => assert_eq!(error.code(), Some("invalid_request"), "{error}"),
        Ok(other) => panic!("this must be refused: {other:?}"),
    }
}

// ---- requests

#[test]
fn a_request_object_has_the_type_the_audience_and_the_parameters_of_the_specification() {
    let verifier = Verifier::new();
    let (state, object) = verifier.fetched(verifier.new_request(&query_sd_jwt()), None);
    assert!(matches!(state, VerificationState::Fetched(_)));
    let jwt = Compact::parse(&object).unwrap();
    jwt.verify(verifier.party.key.public()).unwrap();
    assert_eq!(jwt.header.typ.as_deref(), Some("oauth-authz-req+jwt"));
    assert_eq!(jwt.header.kid.as_deref(), Some(verifier.party.kid.as_str()));
    let claims = jwt.claims().unwrap();
    let names: Vec<&String> = claims.as_object().unwrap().keys().collect();
    let expected = [
        "aud",
        "client_id",
        "client_metadata",
        "dcql_query",
        "exp",
        "iat",
        "nonce",
        "response_mode",
        "response_type",
        "response_uri",
        "state",
    ];
    assert_eq!(names, expected);
    assert_eq!(claims["aud"], "https://self-issued.me/v2");
    assert_eq!(
        claims["client_id"],
        format!("decentralized_identifier:{}", verifier.party.did)
    );
    assert_eq!(claims["response_type"], "vp_token");
    assert_eq!(claims["response_mode"], "direct_post");
    assert_eq!(claims["exp"], NOW.plus(300).0);
}

#[test]
fn every_request_has_a_nonce_and_a_state_of_its_own_in_url_safe_characters() {
    let verifier = Verifier::new();
    let make = |seed: u8| {
        create(verifier.new_request(&query_sd_jwt()), &ctx(seed))
            .unwrap()
            .asked
    };
    let (one, two) = (make(1), make(2));
    let values = [&one.nonce, &one.state, &two.nonce, &two.state];
    let distinct: std::collections::BTreeSet<_> = values.iter().collect();
    assert_eq!(distinct.len(), 4);
    for value in values {
        assert!(value.len() >= 22, "128 bits at least");
        assert!(
            value
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b))
        );
    }
}

#[test]
fn a_link_to_a_signed_request_carries_the_client_and_the_address_alone() {
    let verifier = Verifier::new();
    let mut new = verifier.new_request(&query_sd_jwt());
    new.request_uri_method = RequestUriMethod::Post;
    let Created { asked } = create(new, &ctx(1)).unwrap();
    let text = link(&asked, None).unwrap();
    assert!(text.starts_with("openid4vp://?"));
    let names: Vec<String> = url(&text)
        .query_pairs()
        .map(|(name, _)| name.into_owned())
        .collect();
    assert_eq!(names, ["client_id", "request_uri", "request_uri_method"]);
    let web = link(&asked, Some(&url("https://wallet.example/present"))).unwrap();
    assert!(web.starts_with("https://wallet.example/present?client_id=decentralized_identifier"));
}

#[test]
fn a_request_of_the_prefix_redirect_uri_is_never_signed() {
    let Created { asked } = create(Verifier::plain_request(&query_sd_jwt()), &ctx(1)).unwrap();
    let text = link(&asked, None).unwrap();
    assert!(text.contains("dcql_query=") && !text.contains("request_uri"));
    let verifier = Verifier::new();
    let state = VerificationState::Created(Created { asked });
    let input = Input::Fetch {
        signer: &verifier.party.signer(),
        wallet_nonce: None,
    };
    assert!(matches!(
        verifier.step(&state, input, &ctx(2)),
        Err(Error::State(_))
    ));
}

#[test]
fn a_request_that_must_be_signed_has_a_place_to_be_fetched_from() {
    let verifier = Verifier::new();
    let mut signed = verifier.new_request(&query_sd_jwt());
    signed.request_uri = None;
    let mut plain = Verifier::plain_request(&query_sd_jwt());
    plain.request_uri = Some(url("https://verifier.example/requests/1"));
    for new in [signed, plain] {
        assert!(matches!(create(new, &ctx(1)), Err(Error::Setup(_))));
    }
}

#[test]
fn metadata_of_a_wallet_that_is_malformed_is_refused() {
    let post = |metadata: &str| {
        let form = [("wallet_nonce", "n"), ("wallet_metadata", metadata)];
        wallet_nonce(selfsame_oauth::form::encode(&form).as_bytes())
    };
    assert!(post(r#"{"vp_formats_supported":{},"unknown":1}"#).is_ok());
    for bad in ["[]", "x", r#"{"a":1,"a":2}"#] {
        assert_eq!(
            post(bad).unwrap_err().code(),
            Some("invalid_request"),
            "{bad}"
        );
    }
}

#[test]
fn the_wallets_nonce_is_echoed_in_the_request_object() {
    let verifier = Verifier::new();
    let posted = wallet_nonce(b"wallet_nonce=abc&wallet_metadata=%7B%7D&unknown=1").unwrap();
    let (_, object) = verifier.fetched(verifier.new_request(&query_sd_jwt()), posted.as_deref());
    assert_eq!(
        Compact::parse(&object).unwrap().claims().unwrap()["wallet_nonce"],
        "abc"
    );
    assert_eq!(wallet_nonce(b"").unwrap(), None);
}

#[test]
fn a_form_that_repeats_the_wallets_nonce_is_refused() {
    refused(wallet_nonce(b"wallet_nonce=a&wallet_nonce=b"));
    refused(wallet_nonce(
        format!("wallet_nonce={}", "a".repeat(2000)).as_bytes(),
    ));
}

#[test]
fn a_request_that_has_expired_is_not_given_out_and_takes_no_answer() {
    let verifier = Verifier::new();
    let created =
        VerificationState::Created(create(verifier.new_request(&query_sd_jwt()), &ctx(1)).unwrap());
    let input = Input::Fetch {
        signer: &verifier.party.signer(),
        wallet_nonce: None,
    };
    assert!(matches!(
        verifier.step(&created, input, &at(300, 2)),
        Err(Error::Expired(_))
    ));
    let (fetched, _) = verifier.fetched(verifier.new_request(&query_sd_jwt()), None);
    let response = decline(&fetched, "access_denied");
    let input = Input::Response {
        response: &response,
        policy: &policy(),
    };
    assert!(matches!(
        verifier.step(&fetched, input, &at(300, 3)),
        Err(Error::Expired(_))
    ));
}

#[test]
fn a_request_without_holder_binding_still_has_its_state() {
    let mut query = query_sd_jwt();
    query["credentials"][0]["require_cryptographic_holder_binding"] = json!(false);
    let verifier = Verifier::new();
    let (_, object) = verifier.fetched(verifier.new_request(&query), None);
    assert!(Compact::parse(&object).unwrap().claims().unwrap()["state"].is_string());
}

// ---- answers

fn decline(state: &VerificationState, error: &str) -> AuthorizationResponse {
    AuthorizationResponse {
        state: Some(state.asked().state.clone()),
        answer: VpResponse::Refused {
            error: error.to_owned(),
            description: None,
        },
    }
}

/// A verifier with an open request, an issuer, and a card from that issuer in a wallet.
struct Scene {
    verifier: Verifier,
    state: VerificationState,
    object: String,
    issuer: Issuer,
    card: Card,
}

impl Scene {
    fn new() -> Self {
        Self::of(SD_JWT, &query_sd_jwt())
    }

    fn of(configuration_id: &str, query: &Value) -> Self {
        let verifier = Verifier::new();
        let (state, object) = verifier.fetched(verifier.new_request(query), None);
        let issuer = Issuer::new();
        let card = Card::new(&issuer, configuration_id);
        Self {
            verifier,
            state,
            object,
            issuer,
            card,
        }
    }

    fn vp_token(&self) -> VpToken {
        presentations(&self.object, &[("vaccination", &self.card)])
    }

    fn answer(&self, vp_token: VpToken) -> Result<Box<AnsweredRequest>, Error> {
        self.verifier.answer(&self.state, vp_token)
    }
}

fn one(presentation: &str) -> VpToken {
    VpToken::from([("vaccination".to_owned(), vec![presentation.to_owned()])])
}

#[test]
fn a_good_sd_jwt_presentation_is_valid_and_discloses_what_was_asked() {
    let scene = Scene::new();
    let answered = scene.answer(scene.vp_token()).unwrap();
    assert_eq!(
        answered.judged.outcome,
        Outcome::Valid,
        "{:#?}",
        answered.judged
    );
    let claims = answered.judged.credentials[0].claims.as_ref().unwrap();
    assert_eq!(claims["vaccine"], "MMR");
    assert_eq!(claims.get("given_name"), None);
}

#[test]
fn a_good_w3c_presentation_is_valid() {
    let scene = Scene::of(W3C, &query_w3c());
    let answered = scene.answer(scene.vp_token()).unwrap();
    assert_eq!(
        answered.judged.outcome,
        Outcome::Valid,
        "{:#?}",
        answered.judged
    );
    let claims = answered.judged.credentials[0].claims.as_ref().unwrap();
    assert_eq!(claims["credentialSubject"]["vaccine"], "MMR");
}

#[test]
fn an_answer_with_another_state_is_refused() {
    let scene = Scene::new();
    for state in [None, Some("guessed".to_owned())] {
        let response = AuthorizationResponse {
            state,
            answer: VpResponse::Presented(scene.vp_token()),
        };
        let input = Input::Response {
            response: &response,
            policy: &policy(),
        };
        refused(scene.verifier.step(&scene.state, input, &ctx(1)));
    }
}

#[test]
fn an_answer_is_taken_once() {
    let scene = Scene::new();
    let answered = VerificationState::Answered(scene.answer(scene.vp_token()).unwrap());
    refused(scene.verifier.answer(&answered, scene.vp_token()));
    let input = Input::Fetch {
        signer: &scene.verifier.party.signer(),
        wallet_nonce: None,
    };
    let over = scene.verifier.step(&answered, input, &ctx(1));
    assert!(matches!(over, Err(Error::Expired(_))), "{over:?}");
}

/// The error that an answer was refused with, and the outcome of its verification.
fn refusal(reply: &Option<Reply>) -> (&Error, Outcome) {
    match reply {
        Some(Reply::Refusal { error, judged }) => (error, judged.outcome),
        other => panic!("this must be refused: {other:?}"),
    }
}

#[test]
fn an_answer_that_does_not_verify_is_refused_and_leaves_the_request_open() {
    let scene = Scene::new();
    let unbound = one(&scene.card.held.raw);
    let mut forged = scene.vp_token();
    forged.get_mut("vaccination").unwrap()[0].push('x');
    let mut state = scene.state.clone();
    for (count, bad) in (1..).zip([unbound, one("x"), forged]) {
        let (next, reply) = scene.verifier.answered(&state, &bad).unwrap();
        let (error, outcome) = refusal(&reply);
        assert_eq!(error.code(), Some("invalid_request"));
        assert_eq!(outcome, Outcome::Invalid);
        let VerificationState::Fetched(fetched) = &next else {
            panic!("{next:?}")
        };
        let refused = fetched.refused.as_ref().unwrap();
        assert_eq!((refused.count, refused.last.outcome), (count, outcome));
        state = next;
    }
    // The request can still be fetched, which does not clear the record of refused answers.
    let input = Input::Fetch {
        signer: &scene.verifier.party.signer(),
        wallet_nonce: None,
    };
    let (state, _) = scene.verifier.step(&state, input, &ctx(1)).unwrap();
    assert!(matches!(&state, VerificationState::Fetched(fetched) if fetched.refused.is_some()));
    let (state, reply) = scene.verifier.answered(&state, &scene.vp_token()).unwrap();
    assert!(matches!(reply, Some(Reply::Receipt(_))));
    assert!(
        matches!(&state, VerificationState::Answered(answered) if answered.judged.outcome == Outcome::Valid)
    );
}

#[test]
fn after_a_few_answers_that_do_not_verify_the_request_is_over() {
    let scene = Scene::new();
    let mut state = scene.state.clone();
    for count in 1..=5 {
        let (next, reply) = scene.verifier.answered(&state, &one("x")).unwrap();
        refusal(&reply);
        assert_eq!(matches!(next, VerificationState::Answered(_)), count == 5);
        state = next;
    }
    refused(scene.verifier.answer(&state, scene.vp_token()));
}

#[test]
fn a_refusal_tells_which_rule_is_broken_and_not_whom_the_verifier_trusts() {
    let scene = Scene::new();
    let untrusting = Policy {
        trusted_issuers: Trust::Listed(vec!["https://other.example".to_owned()]),
        ..policy()
    };
    let response = AuthorizationResponse {
        state: Some(scene.state.asked().state.clone()),
        answer: VpResponse::Presented(one(&scene.card.held.raw)),
    };
    let input = Input::Response {
        response: &response,
        policy: &untrusting,
    };
    let (_, reply) = scene.verifier.step(&scene.state, input, &ctx(1)).unwrap();
    let (error, _) = refusal(&reply);
    let told = error.to_string();
    assert!(
        told.contains("key_binding") && !told.contains("trusted"),
        "{told}"
    );
}

#[test]
fn an_answer_to_a_request_that_was_not_fetched_is_refused() {
    let scene = Scene::new();
    let created = VerificationState::Created(Created {
        asked: scene.state.asked().clone(),
    });
    refused(scene.verifier.answer(&created, scene.vp_token()));
}

#[test]
fn an_answer_to_a_query_that_was_not_asked_is_refused() {
    let scene = Scene::new();
    let mut vp_token = scene.vp_token();
    vp_token.insert("other".to_owned(), vp_token["vaccination"].clone());
    refused(scene.answer(vp_token));
}

#[test]
fn several_presentations_are_refused_where_one_was_asked_for_and_taken_where_many_were() {
    let scene = Scene::new();
    let presentation = scene.vp_token()["vaccination"][0].clone();
    let two = VpToken::from([(
        "vaccination".to_owned(),
        vec![presentation.clone(), presentation],
    )]);
    refused(scene.answer(two));
    let mut query = query_sd_jwt();
    query["credentials"][0]["multiple"] = json!(true);
    let scene = Scene::of(SD_JWT, &query);
    let presentation = scene.vp_token()["vaccination"][0].clone();
    let two = VpToken::from([(
        "vaccination".to_owned(),
        vec![presentation.clone(), presentation],
    )]);
    assert_eq!(scene.answer(two).unwrap().judged.outcome, Outcome::Valid);
}

#[test]
fn the_presentations_of_one_answer_share_one_budget_of_memory() {
    let mut query = query_sd_jwt();
    query["credentials"][0]["multiple"] = json!(true);
    let scene = Scene::of(SD_JWT, &query);
    let heavy = |number: usize| {
        let payload = json!({"vct": VCT, "n": number, "x": vec![json!({"a": 0}); 1_000]});
        let jwt = selfsame_crypto::jws::Unsigned::new(&json!({"alg": "ES256"}), &payload);
        format!("{}~", jwt.finish(&[0; 64]))
    };
    let read = |presentations: Vec<String>| {
        let vp_token = VpToken::from([("vaccination".to_owned(), presentations)]);
        let (_, reply) = scene.verifier.answered(&scene.state, &vp_token).unwrap();
        let Some(Reply::Refusal { judged, .. }) = reply else {
            panic!("{reply:?}")
        };
        let is_read = |one: &&JudgedCredential| {
            let rules = &one.verdict.rules;
            rules
                .iter()
                .any(|rule| rule.name == "well_formed" && rule.passed == Some(true))
        };
        judged.credentials.iter().filter(is_read).count()
    };
    assert_eq!(read(vec![heavy(0)]), 1);
    let many = read((0..40).map(heavy).collect());
    assert!((1..10).contains(&many), "{many} of 40 were read");
    // Small presentations, as credentials normally are, are read however many there are.
    let small = scene.card.held.raw.clone();
    assert_eq!(read(vec![small; 200]), 200);
}

#[test]
fn a_presentation_for_another_request_is_invalid() {
    let scene = Scene::new();
    let verifier = &scene.verifier;
    let mut new = verifier.new_request(&query_sd_jwt());
    new.lifetime = 299;
    let other = VerificationState::Created(create(new, &ctx(99)).unwrap());
    let input = Input::Fetch {
        signer: &verifier.party.signer(),
        wallet_nonce: None,
    };
    let (_, reply) = verifier.step(&other, input, &ctx(98)).unwrap();
    let Some(Reply::RequestObject(object)) = &reply else {
        panic!()
    };
    let replayed = presentations(object, &[("vaccination", &scene.card)]);
    let judged = scene.answer(replayed).unwrap().judged;
    assert_eq!(judged.outcome, Outcome::Invalid);
    assert_eq!(judged.credentials[0].claims, None);
}

#[test]
fn a_presentation_for_another_verifier_is_invalid() {
    for (configuration_id, query) in [(SD_JWT, query_sd_jwt()), (W3C, query_w3c())] {
        let scene = Scene::of(configuration_id, &query);
        // The nonce is equal, since both requests come from one seed; the client identifier differs.
        let other = Verifier::new();
        let (state, object) = other.fetched(other.new_request(&query), None);
        assert_eq!(state.asked().nonce, scene.state.asked().nonce);
        let relayed = presentations(&object, &[("vaccination", &scene.card)]);
        assert_eq!(
            scene.answer(relayed).unwrap().judged.outcome,
            Outcome::Invalid
        );
    }
}

#[test]
fn a_presentation_without_holder_binding_is_invalid_unless_none_was_asked_for() {
    let scene = Scene::new();
    let bare = scene.card.held.raw.clone();
    assert_eq!(
        scene.answer(one(&bare)).unwrap().judged.outcome,
        Outcome::Invalid
    );
    let mut query = query_sd_jwt();
    query["credentials"][0]["require_cryptographic_holder_binding"] = json!(false);
    let scene = Scene::of(SD_JWT, &query);
    assert_eq!(
        scene.answer(scene.vp_token()).unwrap().judged.outcome,
        Outcome::Valid
    );
}

#[test]
fn a_proof_of_the_holder_that_was_not_asked_for_is_not_judged() {
    for (configuration, bound) in [(SD_JWT, query_sd_jwt()), (W3C, query_w3c())] {
        let mut unbound = bound.clone();
        unbound["credentials"][0]["require_cryptographic_holder_binding"] = json!(false);
        let scene = Scene::of(configuration, &unbound);
        let (_, elsewhere) = scene
            .verifier
            .fetched(scene.verifier.new_request(&bound), None);
        let proven = presentations(&elsewhere, &[("vaccination", &scene.card)]);
        let judged = scene.answer(proven.clone()).unwrap().judged;
        assert_eq!(judged.outcome, Outcome::Valid, "{judged:#?}");
        let answered = Scene::of(configuration, &bound).answer(proven).unwrap();
        assert_eq!(answered.judged.outcome, Outcome::Invalid);
    }
}

#[test]
fn a_tampered_presentation_is_invalid() {
    let scene = Scene::new();
    let good = scene.vp_token()["vaccination"][0].clone();
    let mut parts: Vec<String> = good.split('~').map(str::to_owned).collect();
    parts[1] = base64url_encode(br#"["salt","vaccine","other"]"#);
    let judged = scene.answer(one(&parts.join("~"))).unwrap().judged;
    assert_eq!(
        (judged.outcome, judged.credentials[0].claims.clone()),
        (Outcome::Invalid, None)
    );
    for garbage in ["", "x", "a.b.c", "a.b.c~", "~~~"] {
        assert_eq!(
            scene.answer(one(garbage)).unwrap().judged.outcome,
            Outcome::Invalid
        );
    }
}

#[test]
fn a_presentation_that_lacks_a_claim_that_was_asked_for_is_invalid() {
    let scene = Scene::new();
    let silent = Card {
        reveal: Some(Vec::new()),
        ..Card::new(&scene.issuer, SD_JWT)
    };
    let judged = scene
        .answer(presentations(&scene.object, &[("vaccination", &silent)]))
        .unwrap()
        .judged;
    assert_eq!(judged.outcome, Outcome::Invalid);
    assert!(judged.reason.is_some());
}

#[test]
fn a_credential_of_another_type_is_invalid_though_genuine() {
    let mut query = query_sd_jwt();
    query["credentials"][0]["meta"]["vct_values"] = json!(["https://issuer.example/vct/other"]);
    let scene = Scene::of(SD_JWT, &query);
    assert_eq!(
        scene.answer(scene.vp_token()).unwrap().judged.outcome,
        Outcome::Invalid
    );
}

#[test]
fn a_bad_presentation_is_dropped_and_the_rest_must_do() {
    let mut query = json!({"credentials": [
        query_sd_jwt()["credentials"][0],
        query_w3c()["credentials"][0],
    ], "credential_sets": [
        {"options": [["vaccination"]]},
        {"options": [["paper"]], "required": false},
    ]});
    query["credentials"][1]["id"] = json!("paper");
    let scene = Scene::of(SD_JWT, &query);
    let mut vp_token = scene.vp_token();
    vp_token.insert("paper".to_owned(), vec!["forged".to_owned()]);
    assert_eq!(
        scene.answer(vp_token.clone()).unwrap().judged.outcome,
        Outcome::Valid
    );
    vp_token.insert("vaccination".to_owned(), vec!["forged".to_owned()]);
    assert_eq!(
        scene.answer(vp_token).unwrap().judged.outcome,
        Outcome::Invalid
    );
}

#[test]
fn a_genuine_credential_under_a_query_it_does_not_match_is_not_called_valid() {
    let mut query = json!({"credentials": [
        query_sd_jwt()["credentials"][0],
        query_sd_jwt()["credentials"][0],
    ], "credential_sets": [
        {"options": [["vaccination"]]},
        {"options": [["licence"]], "required": false},
    ]});
    query["credentials"][1]["id"] = json!("licence");
    query["credentials"][1]["meta"]["vct_values"] = json!(["https://issuer.example/vct/licence"]);
    let scene = Scene::of(SD_JWT, &query);
    let mut vp_token = scene.vp_token();
    let vaccination = vp_token["vaccination"].clone();
    vp_token.insert("licence".to_owned(), vaccination);
    let answered = scene.answer(vp_token).unwrap();
    assert_eq!(answered.judged.outcome, Outcome::Valid);
    let of = |judged: &Judged, id: &str| {
        let one = judged.credentials.iter().find(|one| one.query_id == id);
        one.map(|one| (one.verdict.outcome, one.claims.is_some()))
            .unwrap()
    };
    assert_eq!(of(&answered.judged, "vaccination"), (Outcome::Valid, true));
    assert_eq!(of(&answered.judged, "licence"), (Outcome::Invalid, false));
    let rules = &answered.judged.credentials[0].verdict.rules;
    let rule = rules.last().unwrap();
    assert_eq!((&*rule.name, rule.passed), ("query_match", Some(false)));
    let input = Input::Recheck { policy: &policy() };
    let state = VerificationState::Answered(answered);
    match scene.verifier.step(&state, input, &at(7_200, 7)).unwrap().0 {
        VerificationState::Answered(again) => {
            assert_eq!(of(&again.judged, "vaccination"), (Outcome::Valid, true));
            assert_eq!(of(&again.judged, "licence"), (Outcome::Invalid, false));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_certificate_that_only_lies_beside_the_chain_names_no_authority() {
    let [own, other] = [(); 2].map(|()| Authority::new());
    let (party, leaf) = own.certify("issuer.example");
    let (_, beside) = other.certify("issuer.example");
    let mut issuer = Issuer::new();
    issuer.content.issuer = "https://issuer.example".to_owned();
    issuer.content.signer = Signer {
        kid: None,
        x5c: vec![leaf.clone(), beside.clone()],
        ..party.party.signer()
    };
    issuer.party = party.party;
    let card = Card::new(&issuer, SD_JWT);
    let judged = |wanted: &[u8]| {
        let aki = authority_keys(&[wanted.to_vec()]).remove(0);
        let mut query = query_sd_jwt();
        query["credentials"][0]["trusted_authorities"] =
            json!([{"type": "aki", "values": [base64url_encode(&aki)]}]);
        let verifier = Verifier::new();
        let (state, object) = verifier.fetched(verifier.new_request(&query), None);
        let response = AuthorizationResponse {
            state: Some(state.asked().state.clone()),
            answer: VpResponse::Presented(presentations(&object, &[("vaccination", &card)])),
        };
        let policy = Policy {
            trust_anchors: vec![own.der.clone(), other.der.clone()],
            ..policy()
        };
        let input = Input::Response {
            response: &response,
            policy: &policy,
        };
        match verifier.step(&state, input, &ctx(52)).unwrap().0 {
            VerificationState::Answered(answered) => answered.judged.outcome,
            VerificationState::Fetched(fetched) => fetched.refused.unwrap().last.outcome,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(judged(&leaf), Outcome::Valid);
    assert_eq!(judged(&beside), Outcome::Invalid);
}

#[test]
fn a_forged_optional_presentation_does_not_hide_what_ails_the_required_one() {
    let mut query = json!({"credentials": [
        query_sd_jwt()["credentials"][0],
        query_w3c()["credentials"][0],
    ], "credential_sets": [
        {"options": [["vaccination"]]},
        {"options": [["paper"]], "required": false},
    ]});
    query["credentials"][1]["id"] = json!("paper");
    let verifier = Verifier::new();
    let (state, object) = verifier.fetched(verifier.new_request(&query), None);
    let mut issuer = Issuer::new();
    issuer.content.expires = Some(NOW.minus(100));
    let card = Card::new(&issuer, SD_JWT);
    let mut vp_token = presentations(&object, &[("vaccination", &card)]);
    vp_token.insert("paper".to_owned(), vec!["forged".to_owned()]);
    let answered = verifier.answer(&state, vp_token).unwrap();
    assert_eq!(
        answered.judged.outcome,
        Outcome::Expired,
        "{:#?}",
        answered.judged
    );
}

#[test]
fn a_genuine_credential_of_an_issuer_that_is_not_trusted_is_untrusted() {
    for (configuration_id, query) in [(SD_JWT, query_sd_jwt()), (W3C, query_w3c())] {
        let scene = Scene::of(configuration_id, &query);
        let listing = |issuer: &str| Policy {
            trusted_issuers: Trust::Listed(vec![issuer.to_owned()]),
            ..policy()
        };
        let response = AuthorizationResponse {
            state: Some(scene.state.asked().state.clone()),
            answer: VpResponse::Presented(scene.vp_token()),
        };
        let answered = |state: &VerificationState, policy: &Policy| {
            let input = Input::Response {
                response: &response,
                policy,
            };
            scene.verifier.step(state, input, &ctx(1)).unwrap()
        };
        // Anyone who knows the request can make such an answer, so it does not close the request; the log has the
        // reason.
        let other = "did:web:somebody.example";
        let (open, reply) = answered(&scene.state, &listing(other));
        let (error, outcome) = refusal(&reply);
        assert_eq!(outcome, Outcome::Untrusted);
        assert_eq!(error.code(), Some("invalid_request"));
        let told = error.to_string();
        assert!(told.contains("issuer") && !told.contains(other), "{told}");
        let VerificationState::Fetched(fetched) = &open else {
            panic!("{open:?}")
        };
        let last = &fetched.refused.as_ref().unwrap().last;
        assert_eq!(last.outcome, Outcome::Untrusted);
        let one = &last.credentials[0];
        assert_eq!(one.claims, None);
        let broken = one.verdict.rules.iter();
        let mut broken = broken.filter(|rule| rule.passed == Some(false));
        assert!(broken.any(|rule| rule.name == "issuer_trusted"));
        let issuer = &scene.issuer.content.issuer;
        match answered(&open, &listing(issuer)).0 {
            VerificationState::Answered(answered) => {
                assert_eq!(answered.judged.outcome, Outcome::Valid)
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_answer_counts_if_one_of_its_credentials_is_by_a_trusted_issuer_however_that_stands() {
    let mut query = json!({"credentials": [
        query_sd_jwt()["credentials"][0],
        query_sd_jwt()["credentials"][0],
    ]});
    query["credentials"][1]["id"] = json!("other");
    let verifier = Verifier::new();
    let (state, object) = verifier.fetched(verifier.new_request(&query), None);
    let mut known = Issuer::new();
    known.content.expires = Some(NOW.minus(100));
    let (known, stranger) = (known, Issuer::new());
    let card = |issuer: &Issuer| Card::new(issuer, SD_JWT);
    let (known_card, [one, two]) = (card(&known), [(); 2].map(|()| card(&stranger)));
    let policy = Policy {
        trusted_issuers: Trust::Listed(vec![known.content.issuer.clone()]),
        ..policy()
    };
    for (first, counts) in [(&known_card, true), (&one, false)] {
        let shown = [("vaccination", first), ("other", &two)];
        let response = AuthorizationResponse {
            state: Some(state.asked().state.clone()),
            answer: VpResponse::Presented(presentations(&object, &shown)),
        };
        let input = Input::Response {
            response: &response,
            policy: &policy,
        };
        let (next, _) = verifier.step(&state, input, &ctx(1)).unwrap();
        match next {
            VerificationState::Answered(answered) if counts => {
                assert_eq!(answered.judged.outcome, Outcome::Untrusted);
            }
            VerificationState::Fetched(fetched) if !counts => {
                let last = fetched.refused.unwrap().last;
                assert_eq!(last.outcome, Outcome::Untrusted);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_answer_is_judged_again_by_what_is_known_later() {
    for (configuration_id, query) in [(SD_JWT, query_sd_jwt()), (W3C, query_w3c())] {
        let scene = Scene::of(configuration_id, &query);
        let answered = VerificationState::Answered(scene.answer(scene.vp_token()).unwrap());
        let again = |later: u64| {
            let input = Input::Recheck { policy: &policy() };
            match scene
                .verifier
                .step(&answered, input, &at(later, 7))
                .unwrap()
                .0
            {
                VerificationState::Answered(answered) => answered.judged.outcome,
                other => panic!("{other:?}"),
            }
        };
        // The holder's proof is stale by now, the credential is not.
        assert_eq!(again(7_200), Outcome::Valid);
        assert_eq!(again(200_000), Outcome::Expired);
    }
}

#[test]
fn what_was_forged_stays_forged_when_it_is_judged_again() {
    let scene = Scene::new();
    let bare = scene.card.held.raw.clone();
    let answered = VerificationState::Answered(scene.answer(one(&bare)).unwrap());
    let input = Input::Recheck { policy: &policy() };
    let (state, _) = scene.verifier.step(&answered, input, &ctx(7)).unwrap();
    let VerificationState::Answered(answered) = state else {
        panic!()
    };
    assert_eq!(answered.judged.outcome, Outcome::Invalid);
}

#[test]
fn a_wallet_that_declines_is_understood() {
    let scene = Scene::new();
    let response = decline(&scene.state, "access_denied");
    let input = Input::Response {
        response: &response,
        policy: &policy(),
    };
    let (state, reply) = scene.verifier.step(&scene.state, input, &ctx(1)).unwrap();
    let VerificationState::Declined(declined) = &state else {
        panic!("{state:?}")
    };
    assert_eq!(declined.error, "access_denied");
    assert!(matches!(reply, Some(Reply::Receipt(receipt)) if receipt == Receipt::default()));
    refused(scene.verifier.answer(&state, scene.vp_token()));
}

#[test]
fn a_response_code_is_for_the_browser_beside_the_wallet_alone() {
    let verifier = Verifier::new();
    let mut new = verifier.new_request(&query_sd_jwt());
    new.redirect_uri = Some(url("https://verifier.example/done?id=1"));
    let (state, object) = verifier.fetched(new, None);
    let card = Card::new(&Issuer::new(), SD_JWT);
    let response = AuthorizationResponse {
        state: Some(state.asked().state.clone()),
        answer: VpResponse::Presented(presentations(&object, &[("vaccination", &card)])),
    };
    let input = Input::Response {
        response: &response,
        policy: &policy(),
    };
    let (state, reply) = verifier.step(&state, input, &ctx(1)).unwrap();
    let redirect = match reply {
        Some(Reply::Receipt(receipt)) => receipt.redirect_uri,
        _ => None,
    };
    let redirect = url(&redirect.unwrap());
    let code = redirect
        .query_pairs()
        .find(|(name, _)| name == "response_code")
        .unwrap()
        .1
        .into_owned();
    assert!(code.len() >= 22, "128 bits at least");
    assert!(state.is_response_code(&code.into()));
    assert!(!state.is_response_code(&"guessed".into()));
    let scene = Scene::new();
    let without = VerificationState::Answered(scene.answer(scene.vp_token()).unwrap());
    assert!(!without.is_response_code(&String::new().into()));
}

#[test]
fn an_answer_waits_for_its_evidence_and_is_unverifiable_without_it() {
    let mut issuer = Issuer::new();
    issuer.content.issuer = "did:web:issuer.example".to_owned();
    issuer.content.signer.kid = Some("did:web:issuer.example#1".to_owned());
    let verifier = Verifier::new();
    let (state, object) = verifier.fetched(verifier.new_request(&query_sd_jwt()), None);
    let vp_token = presentations(&object, &[("vaccination", &Card::new(&issuer, SD_JWT))]);
    let response = AuthorizationResponse {
        state: Some(state.asked().state.clone()),
        answer: VpResponse::Presented(vp_token.clone()),
    };
    let input = Input::Response {
        response: &response,
        policy: &policy(),
    };
    let step = verifier::step(&state, input, &Evidence::default(), &ctx(1)).unwrap();
    let Step::Needs(needs) = step else {
        panic!("{step:?}")
    };
    let did = Did::parse("did:web:issuer.example").unwrap();
    assert_eq!(needs, [Need::Did(did)]);
    // The test driver has no network, but a network could be available for the next answer; the fifth answer is the
    // last.
    let (open, reply) = verifier.answered(&state, &vp_token).unwrap();
    assert_eq!(refusal(&reply).1, Outcome::Unverifiable);
    assert!(matches!(open, VerificationState::Fetched(_)));
    let answered = verifier.answer(&state, vp_token).unwrap();
    assert_eq!(answered.judged.outcome, Outcome::Unverifiable);
    assert_eq!(answered.judged.credentials[0].claims, None);
    let input = Input::Recheck { policy: &policy() };
    let (state, _) = verifier
        .step(&VerificationState::Answered(answered), input, &at(9_000, 2))
        .unwrap();
    let VerificationState::Answered(again) = state else {
        panic!()
    };
    assert_eq!(again.judged.outcome, Outcome::Unverifiable);
}
