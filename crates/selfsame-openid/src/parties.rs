//! The organisations of an instance: the tenants that hold their records, and the issuer's identifier.

use std::sync::LazyLock;

use selfsame_store::TenantId;
use url::Url;

static ISSUER: LazyLock<TenantId> = LazyLock::new(|| tenant("issuer"));
static VERIFIER: LazyLock<TenantId> = LazyLock::new(|| tenant("verifier"));

/// The tenant of the issuer.
pub(crate) fn issuer() -> &'static TenantId {
    &ISSUER
}

/// The tenant of the verifier.
pub(crate) fn verifier() -> &'static TenantId {
    &VERIFIER
}

fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap_or_else(|_| TenantId::instance())
}

/// The issuer's identifier in OpenID4VCI.
pub(crate) fn issuer_identifier(origin: &Url) -> String {
    format!("{}issuer", origin.as_str())
}
