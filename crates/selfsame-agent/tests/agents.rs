//! Two agents, each with a store and an endpoint of its own, talk over HTTP on loopback.

// The registry of the tests of the wallet uses them.
use selfsame_anoncreds as _;
use selfsame_registry as _;

mod agents {
    mod alone;
    mod connections;
    mod did_exchange;
    mod every_message;
    mod out_of_band;
    #[allow(dead_code, reason = "the tests of the wallet use the rest of it")]
    #[path = "../../../selfsame-anoncreds-wallet/tests/wallet/world.rs"]
    pub mod registry;
    mod revoked;
    mod rotation;
    mod speaking;
    mod v2;
    pub mod world;
}
