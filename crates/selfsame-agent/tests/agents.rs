//! Two agents, each with a store and an endpoint of its own, talk over HTTP on loopback.

mod agents {
    mod connections;
    mod did_exchange;
    mod out_of_band;
    mod rotation;
    mod speaking;
    pub mod world;
}
