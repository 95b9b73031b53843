//! Properties that each parser of outside bytes must have for any input: one function for each parser.
//!
//! Each function returns whether the parser accepted the input, so that a run can tell that it saw more than refusals.
//! A violated property panics. The same functions run under libFuzzer (`fuzz/`) and, for a short time, as a test.

mod anoncreds;
mod anoncreds_w3c;
mod aries;
mod askar;
mod attestation;
mod by_browser;
mod cbor;
mod credential;
mod data_integrity;
mod did;
mod didcomm;
mod dif;
mod esignet;
mod issuance;
mod linked;
mod moving;
mod mutate;
mod passkeys;
mod pkcs11;
mod proof;
mod published;
mod registry;
mod revocation;
mod seeds;
mod sheets;
mod shown;
mod sign_in;
mod staple;
mod tls;
mod token;
mod trace;
mod types;
mod vc_api;
mod webvh;
mod wire;
mod witness;

pub use anoncreds::{anoncreds, presentation};
pub use anoncreds_w3c::anoncreds_w3c;
pub use aries::{aries_message, aries_v2_message};
pub use askar::{askar_key, askar_text};
pub use attestation::{client_attestation, key_attestation};
pub use by_browser::{browser_answer, browser_request};
pub use cbor::{cbor, cose, mdoc};
pub use credential::{dcql, status_list};
pub use data_integrity::data_integrity;
pub use did::{did_document, did_url, registrar_answer, resolver_answer};
pub use didcomm::{didcomm_envelope, didcomm_message};
pub use dif::presentation_definition;
pub use esignet::esignet_envelope;
pub use issuance::credential_request;
pub use linked::ldp_vc;
pub use moving::moved_tenant;
pub use mutate::Mutator;
pub use passkeys::{attestation_object, authenticator_data, client_data};
pub use pkcs11::pkcs11_uri;
pub use proof::{checkpoint, read, registry_log};
pub use published::signed_metadata;
pub use registry::{genesis, transaction};
pub use revocation::{revocation, tails_file};
pub use sheets::table;
pub use shown::explain;
pub use sign_in::{authorization_request, dpop_proof, request_object};
pub use staple::tls_staple;
pub use tls::{tls_connection, tls_machines, tls_message};
pub use token::{jwt, sd_jwt};
pub use trace::traceparent;
pub use types::{type_file, type_import};
pub use vc_api::vc_api_body;
pub use webvh::did_log;
pub use wire::wire_message;
pub use witness::witness;

/// The properties of one parser, with its name and inputs to start from.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name, which the libFuzzer target has too.
    pub name: &'static str,
    /// The function that checks the properties.
    pub body: fn(&[u8]) -> bool,
    /// Inputs to start from, which the parser accepts.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every parser whose properties are checked here.
pub const TARGETS: [Target; 58] = [
    Target {
        name: "explain",
        body: explain,
        seeds: seeds::explain,
    },
    Target {
        name: "esignet_envelope",
        body: esignet_envelope,
        seeds: esignet::seeds,
    },
    Target {
        name: "jwt",
        body: jwt,
        seeds: seeds::jwt,
    },
    Target {
        name: "table",
        body: table,
        seeds: seeds::table,
    },
    Target {
        name: "traceparent",
        body: traceparent,
        seeds: seeds::traceparent,
    },
    Target {
        name: "wire_message",
        body: wire_message,
        seeds: seeds::wire_message,
    },
    Target {
        name: "pkcs11_uri",
        body: pkcs11_uri,
        seeds: pkcs11::seeds,
    },
    Target {
        name: "attestation_object",
        body: attestation_object,
        seeds: passkeys::object_seeds,
    },
    Target {
        name: "authenticator_data",
        body: authenticator_data,
        seeds: passkeys::data_seeds,
    },
    Target {
        name: "cbor",
        body: cbor,
        seeds: cbor::cbor_seeds,
    },
    Target {
        name: "cose",
        body: cose,
        seeds: cbor::cose_seeds,
    },
    Target {
        name: "mdoc",
        body: mdoc,
        seeds: cbor::mdoc_seeds,
    },
    Target {
        name: "data_integrity",
        body: data_integrity,
        seeds: data_integrity::seeds,
    },
    Target {
        name: "ldp_vc",
        body: ldp_vc,
        seeds: linked::seeds,
    },
    Target {
        name: "vc_api_body",
        body: vc_api_body,
        seeds: vc_api::seeds,
    },
    Target {
        name: "client_data",
        body: client_data,
        seeds: passkeys::client_seeds,
    },
    Target {
        name: "sd_jwt",
        body: sd_jwt,
        seeds: seeds::sd_jwt,
    },
    Target {
        name: "did_url",
        body: did_url,
        seeds: seeds::did_url,
    },
    Target {
        name: "did_document",
        body: did_document,
        seeds: seeds::did_document,
    },
    Target {
        name: "did_log",
        body: did_log,
        seeds: webvh::seeds,
    },
    Target {
        name: "resolver_answer",
        body: resolver_answer,
        seeds: did::resolver_seeds,
    },
    Target {
        name: "registrar_answer",
        body: registrar_answer,
        seeds: did::registrar_seeds,
    },
    Target {
        name: "didcomm_message",
        body: didcomm_message,
        seeds: didcomm::message_seeds,
    },
    Target {
        name: "didcomm_envelope",
        body: didcomm_envelope,
        seeds: didcomm::envelope_seeds,
    },
    Target {
        name: "status_list",
        body: status_list,
        seeds: seeds::status_list,
    },
    Target {
        name: "dcql",
        body: dcql,
        seeds: seeds::dcql,
    },
    Target {
        name: "type_file",
        body: type_file,
        seeds: types::file_seeds,
    },
    Target {
        name: "type_import",
        body: type_import,
        seeds: types::import_seeds,
    },
    Target {
        name: "revocation",
        body: revocation,
        seeds: revocation::seeds,
    },
    Target {
        name: "tails_file",
        body: tails_file,
        seeds: revocation::tails_seeds,
    },
    Target {
        name: "anoncreds",
        body: anoncreds,
        seeds: anoncreds::seeds,
    },
    Target {
        name: "anoncreds_w3c",
        body: anoncreds_w3c,
        seeds: anoncreds_w3c::seeds,
    },
    Target {
        name: "presentation",
        body: presentation,
        seeds: anoncreds::presentation_seeds,
    },
    Target {
        name: "aries_message",
        body: aries_message,
        seeds: aries::seeds,
    },
    Target {
        name: "aries_v2_message",
        body: aries_v2_message,
        seeds: aries::v2_seeds,
    },
    Target {
        name: "askar_key",
        body: askar_key,
        seeds: askar::key_seeds,
    },
    Target {
        name: "presentation_definition",
        body: presentation_definition,
        seeds: dif::seeds,
    },
    Target {
        name: "moved_tenant",
        body: moved_tenant,
        seeds: moving::moved_tenant_seeds,
    },
    Target {
        name: "askar_text",
        body: askar_text,
        seeds: askar::text_seeds,
    },
    Target {
        name: "checkpoint",
        body: checkpoint,
        seeds: proof::checkpoint_seeds,
    },
    Target {
        name: "witness",
        body: witness,
        seeds: witness::seeds,
    },
    Target {
        name: "read",
        body: read,
        seeds: proof::read_seeds,
    },
    Target {
        name: "registry_log",
        body: registry_log,
        seeds: proof::log_seeds,
    },
    Target {
        name: "transaction",
        body: transaction,
        seeds: registry::transaction_seeds,
    },
    Target {
        name: "genesis",
        body: genesis,
        seeds: registry::genesis_seeds,
    },
    Target {
        name: "tls_message",
        body: tls_message,
        seeds: tls::message_seeds,
    },
    Target {
        name: "tls_staple",
        body: tls_staple,
        seeds: staple::staple_seeds,
    },
    Target {
        name: "tls_connection",
        body: tls_connection,
        seeds: tls::connection_seeds,
    },
    Target {
        name: "tls_machines",
        body: tls_machines,
        seeds: tls::machines_seeds,
    },
    Target {
        name: "authorization_request",
        body: authorization_request,
        seeds: sign_in::authorization_request_seeds,
    },
    Target {
        name: "credential_request",
        body: credential_request,
        seeds: issuance::credential_request_seeds,
    },
    Target {
        name: "dpop_proof",
        body: dpop_proof,
        seeds: sign_in::dpop_proof_seeds,
    },
    Target {
        name: "request_object",
        body: request_object,
        seeds: sign_in::request_object_seeds,
    },
    Target {
        name: "client_attestation",
        body: client_attestation,
        seeds: attestation::client_attestation_seeds,
    },
    Target {
        name: "key_attestation",
        body: key_attestation,
        seeds: attestation::key_attestation_seeds,
    },
    Target {
        name: "signed_metadata",
        body: signed_metadata,
        seeds: published::signed_metadata_seeds,
    },
    Target {
        name: "browser_request",
        body: browser_request,
        seeds: by_browser::request_seeds,
    },
    Target {
        name: "browser_answer",
        body: browser_answer,
        seeds: by_browser::answer_seeds,
    },
];

/// Splits an input at zero bytes. Few mutations of base64url reach the bytes it encodes, so most functions also
/// assemble an input from raw parts.
fn parts(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split(|byte| *byte == 0)
}
