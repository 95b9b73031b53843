//! Documents crossed with other implementations: `cargo xtask cross mdoc`.

#[path = "../../selfsame-testkit/shared/peer.rs"]
mod peer;
#[path = "documents/scene.rs"]
mod scene;

/// Where the packages are.
const PACKAGES: &str = "SELFSAME_MDOC_PEERS";

mod npm {
    use serde_json::json;

    use super::PACKAGES;
    use super::peer::Peer;
    use super::scene::Scene;

    const AUTH0: Peer = Peer::node(PACKAGES, "auth0.mjs");
    const ANIMO: Peer = Peer::node(PACKAGES, "animo.mjs");

    #[test]
    #[ignore = "needs the packages: cargo xtask cross mdoc"]
    fn our_responses_are_verified_by_the_packages_and_other_sessions_refused() {
        let scene = Scene::new();
        for peer in [AUTH0, ANIMO] {
            scene.is_verified_by(&peer);
        }
    }

    #[test]
    #[ignore = "needs the packages: cargo xtask cross mdoc"]
    fn documents_that_the_packages_issue_are_valid_and_presented_here() {
        let scene = Scene::new();
        for peer in [AUTH0, ANIMO] {
            for digest in ["SHA-256", "SHA-512"] {
                scene.verifies_documents_of(&peer, digest);
            }
        }
    }

    #[test]
    #[ignore = "needs the packages: cargo xtask cross mdoc"]
    fn our_documents_are_presented_by_the_packages_with_a_signature_and_with_a_tag() {
        let scene = Scene::new();
        for peer in [AUTH0, ANIMO] {
            for reader in [None, Some(json!(scene.reader_jwk()))] {
                scene.verifies_responses_of(&peer, reader);
            }
        }
    }
}

mod python {
    use super::peer::Peer;
    use super::scene::Scene;

    const PYMDOCCBOR: Peer = Peer::python("SELFSAME_MDOC_PYTHON", "pymdoccbor_peer.py");

    #[test]
    #[ignore = "needs the package: cargo xtask cross mdoc"]
    fn our_documents_are_verified_by_the_package_and_changed_ones_refused() {
        Scene::new().is_issued_for(&PYMDOCCBOR);
    }

    #[test]
    #[ignore = "needs the package: cargo xtask cross mdoc"]
    fn documents_that_the_package_issues_are_valid_and_presented_here() {
        Scene::new().verifies_documents_of(&PYMDOCCBOR, "SHA-256");
    }
}
