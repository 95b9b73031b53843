//! Two agents, each with a store and an endpoint of its own, talk over HTTP on loopback.

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
    pub mod world;
}
