//! Webhooks: events sent to other programs, signed, at least once and in order per subject (Standard Webhooks 1.0.0).
//!
//! Owns: endpoints and their secrets, deliveries, and the tasks that write and send them. Does not own: what an event
//! means, who may create an endpoint, HTTP.

mod controller;
mod delivery;
mod dispatch;
mod endpoint;
mod event_type;
mod hearing;
mod manage;
mod patience;
mod records;
mod sender;
mod signature;
mod told_reader;
mod view;
mod webhooks;
mod window;

pub use delivery::DeliveryState;
pub use event_type::EventType;
pub use hearing::{Following, Hearers};
pub use manage::{
    AgentController, COUNTED_MAX, CreatedSubscription, DeliveryCounts, NewSubscription,
    SubscriptionChange, SubscriptionView, WhichDeliveries,
};
pub use signature::WebhookSecret;
pub use view::{
    CreatedEndpoint, EndpointChange, EndpointView, EventReplay, NewEndpoint, Replayed,
    WebhookDelivery,
};
pub use webhooks::{FOLLOWED_SECONDS, WebhookOwner, Webhooks};

/// The writes by which the instance knows of the endpoints of a tenant whose records came from another instance.
///
/// # Errors
/// The store's.
pub async fn arrival(
    store: &selfsame_store::Store,
    owner: &selfsame_store::TenantId,
) -> selfsame_driver::Result<selfsame_store::Batch> {
    records::OwnedCount::arrived(store, owner).await
}

#[cfg(test)]
mod tests;
