//! Tests SD-JWT VCs against the Python package sd-jwt: `cargo xtask cross sd-jwt`.

mod python {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use selfsame_credential::{
        ClaimPath, Evidence, Format, Signer,
        evidence::Fetched,
        format::sd_jwt_vc::{Issue, KeyBindingClaims},
        sd_jwt::{DigestAlgorithm, SdJwt},
        verdict::{Outcome, Policy, Trust, Verdict},
        verify::{Binding, Presented, verify},
    };
    use selfsame_crypto::{
        Jwk, KeyHandle, KeyType, PrivateKey,
        ctx::Ctx,
        jwe::{ContentEncryption, Recipient},
        time::UnixTime,
    };
    use serde_json::{Map, Value, json};

    const SCRIPT: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/package/sd_jwt_package.py"
    );
    const ISSUER: &str = "https://issuer.example";
    const KID: &str = "key-1";
    const AUDIENCE: &str = "x509_san_dns:verifier.example";
    const NONCE: &str = "n-0S6_WzA2Mj";

    /// Runs a job in the package and returns its result.
    #[allow(
        clippy::disallowed_methods,
        reason = "xtask tells by the environment where Python is"
    )]
    fn package(job: &Value) -> Value {
        let python = std::env::var("SELFSAME_SD_JWT_PYTHON")
            .expect("where Python with sd-jwt is: cargo xtask cross sd-jwt says so");
        let mut child = Command::new(python)
            .arg(SCRIPT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(job.to_string().as_bytes()).unwrap();
        drop(input);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn claims() -> Map<String, Value> {
        let claims = json!({
            "iss": ISSUER,
            "vct": "urn:example:identity",
            "given_name": "Inés ✓",
            "family_name": "\u{1F33B}",
            "age": 41,
            "address": {"locality": "Köln", "region": "NRW", "lines": ["a", "b"]},
            "degrees": [{"type": "BSc", "grade": 1}, {"type": "MSc", "grade": 2.5}],
            "verified": true,
        });
        claims.as_object().unwrap().clone()
    }

    /// A presentation of ours that discloses these paths, and our own result for it.
    fn ours(issuer: &PrivateKey, shown: &[Value]) -> (String, Value) {
        let holder = PrivateKey::generate(KeyType::P256).unwrap();
        let path = |value: &Value| ClaimPath::parse(value).unwrap();
        let hidden = [
            json!(["given_name"]),
            json!(["family_name"]),
            json!(["age"]),
            json!(["address"]),
            json!(["address", "region"]),
            json!(["degrees", null]),
            json!(["degrees", null, "grade"]),
        ];
        let issue = Issue {
            claims: claims(),
            disclosable: hidden.iter().map(path).collect(),
            decoys: 3,
            cnf: Some(holder.public().to_jwk()),
            digest: DigestAlgorithm::Sha256,
            signer: Signer::with_kid(KeyHandle::of(issuer.public()), issuer.algorithm(), KID),
            label: "package".to_owned(),
        };
        let draft = issue.draft(&Ctx::new(now(), [7; 32])).unwrap();
        let signature = issuer.sign(draft.signing_input()).unwrap();
        let issued = SdJwt::parse(&draft.finish(&signature)).unwrap();
        let shown: Vec<ClaimPath> = shown.iter().map(path).collect();
        let binding = KeyBindingClaims {
            audience: AUDIENCE.to_owned(),
            nonce: NONCE.to_owned(),
            issued_at: now(),
            further: Map::new(),
        };
        let presentation = issued.present(&shown).unwrap();
        let key = KeyHandle::of(holder.public());
        let draft = binding.bind(presentation, key, holder.algorithm());
        let signature = holder.sign(draft.signing_input()).unwrap();
        let text = draft.finish(&signature);
        let seen = SdJwt::parse(&text).unwrap().process().unwrap();
        (text, seen.claims)
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "the package writes the time of the machine into its proofs"
    )]
    fn now() -> UnixTime {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        UnixTime(since.unwrap().as_secs())
    }

    /// Our verdict on the package's presentation.
    fn judged(presentation: &str, issuer: &Value) -> (Verdict, Option<Value>) {
        let mut key = issuer.clone();
        key["kid"] = json!(KID);
        let metadata = json!({"issuer": ISSUER, "jwks": {"keys": [key]}});
        let mut evidence = Evidence::default();
        let fetched = Fetched {
            value: Ok(metadata.to_string().into_bytes()),
            at: now(),
        };
        evidence.insert_issuer_metadata(ISSUER.to_owned(), fetched);
        let expected = Binding {
            audience: AUDIENCE.to_owned(),
            nonce: NONCE.to_owned(),
            session: None,
        };
        let presented = Presented {
            format: Format::SdJwtVc,
            raw: presentation,
            expected: Some(&expected),
        };
        let policy = Policy {
            trusted_issuers: Trust::Listed(vec![ISSUER.to_owned()]),
            leeway: 60,
            ..Policy::default()
        };
        verify(&presented, &policy, &evidence, now())
    }

    fn verifies(presentation: &str, issuer: &PrivateKey) -> Value {
        package(&json!({
            "do": "verify", "presentation": presentation, "aud": AUDIENCE, "nonce": NONCE,
            "issuer": issuer.public().to_jwk().to_value(),
        }))
    }

    /// The presentation with one character changed in the middle of this part.
    fn altered(presentation: &str, part: usize) -> String {
        let mut parts: Vec<String> = presentation.split('~').map(str::to_owned).collect();
        let text = &mut parts[part];
        let middle = text.len() / 2;
        let other = if &text[middle..=middle] == "A" {
            "B"
        } else {
            "A"
        };
        text.replace_range(middle..=middle, other);
        parts.join("~")
    }

    #[test]
    #[ignore = "needs the Python package sd-jwt: cargo xtask cross sd-jwt runs it"]
    fn what_we_present_says_the_same_to_the_package() {
        let issuer = PrivateKey::generate(KeyType::P256).unwrap();
        for shown in [
            vec![],
            vec![json!(["given_name"])],
            vec![json!(["address", "locality"]), json!(["degrees", 1])],
            vec![
                json!(["given_name"]),
                json!(["family_name"]),
                json!(["age"]),
                json!(["address"]),
                json!(["degrees", null]),
            ],
        ] {
            let (presentation, claims) = ours(&issuer, &shown);
            let answer = verifies(&presentation, &issuer);
            assert_eq!(answer["claims"], claims, "{answer}");
        }
    }

    #[test]
    #[ignore = "needs the Python package sd-jwt: cargo xtask cross sd-jwt runs it"]
    fn what_the_package_presents_is_valid_here_and_says_the_same() {
        let whole = json!({"given_name": true, "family_name": true, "age": true, "address": {"region": true}});
        for (disclose, shown) in [
            (json!({}), vec![]),
            (json!({"given_name": true}), vec!["given_name"]),
            (whole, vec!["given_name", "family_name", "age", "address"]),
        ] {
            let made = package(&json!({
                "do": "issue", "claims": claims(), "kid": KID, "aud": AUDIENCE, "nonce": NONCE,
                "hide": ["given_name", "family_name", "age", "address", "region"],
                "disclose": disclose,
            }));
            let presentation = made["presentation"].as_str().expect("a presentation");
            let (verdict, seen) = judged(presentation, &made["issuer"]);
            assert_eq!(verdict.outcome, Outcome::Valid, "{verdict:#?}");
            let seen = seen.unwrap();
            for name in ["given_name", "family_name", "age", "address"] {
                let expected = shown.contains(&name).then(|| claims()[name] == seen[name]);
                assert_eq!(seen.get(name).map(|_| true), expected, "{name}: {seen}");
            }
            assert_eq!(seen["degrees"], claims()["degrees"]);
        }
    }

    #[test]
    #[ignore = "needs the Python package sd-jwt: cargo xtask cross sd-jwt runs it"]
    fn what_is_altered_on_its_way_is_refused_by_both() {
        let issuer = PrivateKey::generate(KeyType::P256).unwrap();
        let (presentation, _) = ours(&issuer, &[json!(["given_name"]), json!(["age"])]);
        let parts = presentation.split('~').count();
        assert_eq!(parts, 4);
        let jwk = issuer.public().to_jwk().to_value();
        assert_eq!(judged(&presentation, &jwk).0.outcome, Outcome::Valid);
        for part in 0..parts {
            let bad = altered(&presentation, part);
            let answer = verifies(&bad, &issuer);
            assert!(answer["refused"].is_string(), "{part}: {answer}");
            assert_eq!(judged(&bad, &jwk).0.outcome, Outcome::Invalid, "{part}");
        }
    }

    #[test]
    #[ignore = "needs Python with sd-jwt: cargo xtask cross sd-jwt"]
    fn what_is_encrypted_to_a_key_of_the_package_it_reads() {
        let key = package(&json!({"do": "key"}));
        let recipient = Recipient::of(&Jwk::from_value(&key["public"]).unwrap()).unwrap();
        for encryption in ContentEncryption::ALL {
            // The package does not know XChaCha20.
            if encryption == ContentEncryption::Xc20p {
                continue;
            }
            let content = json!({"vp_token": {"one": ["Inés ✓"]}}).to_string();
            let ctx = Ctx::new(now(), [7; 32]);
            let token = recipient.encrypt(content.as_bytes(), encryption, &ctx);
            let job = json!({"do": "decrypt", "private": key["private"], "token": token.unwrap()});
            let read = package(&job);
            assert_eq!(read["content"], content, "{read}");
            assert_eq!(read["header"]["enc"], encryption.as_str());
            assert_eq!(read["header"]["kid"], "enc-1");
        }
    }
}
