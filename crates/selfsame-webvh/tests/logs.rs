//! Logs crossed with other implementations: `cargo xtask cross webvh`.

#[path = "../../selfsame-testkit/shared/peer.rs"]
mod peer;
#[path = "logs/scene.rs"]
mod scene;

mod npm {
    use serde_json::json;

    use super::scene::{DIDWEBVH_TS, Life, is_refused, is_valid, moved_by, witnessed_by};

    #[test]
    #[ignore = "needs the package: cargo xtask cross webvh"]
    fn our_logs_are_resolved_by_the_package_from_their_first_entry_to_their_end() {
        Life::new().is_resolved_by(&DIDWEBVH_TS);
    }

    #[test]
    #[ignore = "needs the package: cargo xtask cross webvh"]
    fn our_witnessed_logs_are_resolved_by_the_package_and_others_refused() {
        Life::witnessed().is_approved_for(&DIDWEBVH_TS);
    }

    #[test]
    #[ignore = "needs the package: cargo xtask cross webvh"]
    fn logs_of_the_package_are_rotated_moved_and_witnessed_and_changed_ones_are_refused() {
        let made = DIDWEBVH_TS.said(&json!({"job": "rotated", "address": "example.com"}));
        is_valid(&made, "example.com");
        is_refused(&made);
        moved_by(&DIDWEBVH_TS);
        witnessed_by(&DIDWEBVH_TS);
    }
}

mod python {
    use serde_json::json;

    use super::scene::{DID_WEBVH, Life, is_refused, is_valid};

    #[test]
    #[ignore = "needs the package: cargo xtask cross webvh"]
    fn our_logs_are_resolved_by_the_package_from_their_first_entry_to_their_end() {
        Life::new().is_resolved_by(&DID_WEBVH);
    }

    #[test]
    #[ignore = "needs the package: cargo xtask cross webvh"]
    fn our_witnessed_logs_are_resolved_by_the_package_and_others_refused() {
        Life::witnessed().is_approved_for(&DID_WEBVH);
    }

    #[test]
    #[ignore = "needs the package: cargo xtask cross webvh"]
    fn logs_of_the_package_are_rotated_and_ended_and_changed_ones_are_refused() {
        let place = "example.com%3A8443:dids:a";
        let made = DID_WEBVH.said(&json!({"job": "rotated", "address": place}));
        is_valid(&made, place);
        is_refused(&made);
    }
}
