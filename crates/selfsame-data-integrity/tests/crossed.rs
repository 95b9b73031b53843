//! Proofs crossed with other implementations: `cargo xtask cross data-integrity`.

#[path = "../../selfsame-testkit/shared/peer.rs"]
mod peer;
#[path = "crossed/scene.rs"]
mod scene;

mod npm {
    use super::scene::{Scene, credential, employment, hard, old, typed};

    #[test]
    #[ignore = "needs the packages: cargo xtask cross data-integrity"]
    fn our_credentials_are_verified_by_the_package_and_changed_ones_refused() {
        for scene in Scene::all() {
            for credential in [credential(), old(), employment()] {
                scene.is_verified(&credential);
            }
            // Instances sign a type's own terms, which stand in the document, by the suites over datasets.
            if scene.is_dataset() {
                scene.is_verified(&typed());
            }
        }
    }

    #[test]
    #[ignore = "needs the packages: cargo xtask cross data-integrity"]
    fn credentials_that_the_package_issues_hold_here_and_changed_ones_do_not() {
        for scene in Scene::all() {
            for credential in [credential(), old(), employment(), typed()] {
                scene.verifies(&credential);
            }
        }
    }

    #[test]
    #[ignore = "needs the packages: cargo xtask cross data-integrity"]
    fn presentations_are_bound_to_their_challenge_and_domain_in_both_directions() {
        for scene in Scene::all() {
            scene.presents(&credential());
            if scene.is_dataset() {
                scene.presents(&typed());
            }
        }
    }

    #[test]
    #[ignore = "needs the packages: cargo xtask cross data-integrity"]
    fn documents_have_the_canonical_form_of_the_package_or_are_refused_by_both() {
        for scene in Scene::all().into_iter().filter(|scene| scene.is_dataset()) {
            for document in hard() {
                scene.hashes_alike(&document);
            }
        }
    }
}
