//! Whatever is issued is presented and verified, and no change to a response goes unnoticed.

use std::sync::LazyLock;

use proptest::prelude::*;
use selfsame_verdict::Outcome;

use super::*;
use crate::elements::generic;
use crate::issue::IssuedElement;
use crate::verify::verify_issued;

static SCENE: LazyLock<Scene> = LazyLock::new(Scene::new);
static RESPONSE: LazyLock<Vec<u8>> = LazyLock::new(|| SCENE.signed(&SCENE.issue(), &[]));

fn namespaces() -> impl Strategy<Value = Vec<IssuedNamespace>> {
    let value = prop_oneof![
        any::<u32>().prop_map(|number| serde_json::json!(number)),
        ".{0,20}".prop_map(|text| serde_json::json!(text)),
        any::<bool>().prop_map(|value| serde_json::json!([value, {"a": null}])),
    ];
    let elements = prop::collection::btree_map("[a-z_]{1,12}", value, 0..12);
    let namespaces = prop::collection::btree_map("[a-z.0-9]{1,12}", elements, 0..4);
    namespaces.prop_map(|namespaces| {
        let namespaces = namespaces
            .into_iter()
            .map(|(name, elements)| IssuedNamespace {
                name,
                elements: elements
                    .into_iter()
                    .map(|(name, value)| IssuedElement {
                        name,
                        value: generic(&value).unwrap(),
                    })
                    .collect(),
            });
        namespaces.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_elements_are_issued_presented_and_verified(namespaces in namespaces(), decoys in 0_usize..5, some: u16) {
        let scene = &*SCENE;
        let terms = Terms { namespaces: namespaces.clone(), decoys, ..Terms::default() };
        let issued = terms.issue(&scene.signer, &scene.device);
        let (verdict, _) = verify_issued(&issued, &scene.court());
        prop_assert!(verdict.is_valid(), "{:#?}", verdict);
        let document = IssuerSigned::parse(&issued).unwrap();
        let all = namespaces.iter().flat_map(|namespace| {
            let elements = namespace.elements.iter();
            elements.map(|element| ElementPath { namespace: &namespace.name, element: &element.name })
        });
        let chosen = all.enumerate().filter(|(at, _)| some & (1 << (at % 16)) != 0);
        let chosen: Vec<ElementPath<'_>> = chosen.map(|(_, path)| path).collect();
        let presentation = MdocPresentation {
            document: &document,
            doc_type: MDL.doc_type,
            chosen: &chosen,
            stated: &[],
            transcript: &scene.transcript,
        };
        let draft = presentation.draft(Algorithm::Es256).unwrap();
        let response = draft.finish(&scene.device.sign(&draft.signing_bytes()).unwrap());
        let request = MdocRequest { wanted: &chosen, ..scene.request() };
        let (verdict, verified) = verify(&response, &request, &scene.court());
        prop_assert!(verdict.is_valid(), "{:#?}", verdict);
        let verified = verified.unwrap();
        let disclosed: usize = verified.namespaces.iter().map(|one| one.items.len()).sum();
        prop_assert_eq!(disclosed, chosen.len());
        for path in chosen {
            let given = namespaces.iter().find(|one| one.name == path.namespace).unwrap();
            let given = given.elements.iter().find(|one| one.name == path.element).unwrap();
            prop_assert_eq!(verified.value(path).unwrap().raw(), &given.value);
        }
    }

    /// The unprotected certificate chain may carry further certificates, and ECDSA has two signatures for one: neither
    /// is a change of what is said.
    #[test]
    fn a_flipped_bit_never_gives_other_claims(at in 0_usize..4_096, bit in 0_u8..8) {
        let scene = &*SCENE;
        let mut changed = RESPONSE.clone();
        let at = at % changed.len();
        changed[at] ^= 1 << bit;
        let (verdict, document) = verify(&changed, &scene.request(), &scene.court());
        if verdict.outcome == Outcome::Valid {
            let (_, genuine) = verify(&RESPONSE, &scene.request(), &scene.court());
            let (document, genuine) = (document.unwrap(), genuine.unwrap());
            for path in WANTED {
                prop_assert_eq!(document.value(path), genuine.value(path));
            }
        }
    }
}
