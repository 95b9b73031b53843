//! The wire numbers of identities in one table, with one profile per source.

use crate::named::VcFormat;

/// How one source encodes identities on the wire.
#[derive(Debug, Eq, PartialEq)]
pub struct Profile {
    /// The profile's name.
    pub name: &'static str,
    /// What carries the identities.
    pub syntax: Syntax,
    /// The format of all credentials; `None` if each credential names its own.
    pub format: Option<VcFormat>,
    /// The codes of DID methods.
    pub methods: &'static [(u8, &'static str)],
}

/// What carries identities.
#[derive(Debug, Eq, PartialEq)]
pub enum Syntax {
    /// An extension and four messages (the paper).
    Messages(Messages),
    /// A certificate type besides X.509 (RFC 7250), and an extension with the DID methods (the later draft).
    CertificateType {
        /// The type's number.
        vc: u8,
        /// The number of the extension `did_methods`.
        did_methods: u16,
    },
}

/// The paper's extension and messages.
#[derive(Debug, Eq, PartialEq)]
pub struct Messages {
    /// The number of the extension `ssi_parameters`.
    pub ssi_parameters: u16,
    /// The handshake type of DID.
    pub did: u8,
    /// The handshake type of VC.
    pub vc: u8,
    /// The handshake type of SSIRequest.
    pub ssi_request: u8,
    /// The handshake type of DIDVerify.
    pub did_verify: u8,
    /// Whether SSIRequest, VC and DID begin with an empty request context.
    pub has_context: bool,
    /// Whether VC contains its format, DIDs are binary, and both can have staples.
    pub is_extended: bool,
    /// The context string that a server's DIDVerify signs.
    pub server_context: &'static str,
    /// The context string that a client's DIDVerify signs.
    pub client_context: &'static str,
}

/// The paper's syntax. The paper gives no numbers for the extension and the messages, so these are from the ranges for
/// private use, as are the codes of DID methods that it does not name.
pub static PAPER: Profile = Profile {
    name: "paper",
    syntax: Syntax::Messages(Messages {
        ssi_parameters: 0xff3c,
        did: 224,
        vc: 225,
        ssi_request: 226,
        did_verify: 227,
        has_context: false,
        is_extended: false,
        server_context: "TLS 1.3, server DIDVerify",
        client_context: "TLS 1.3, client DIDVerify",
    }),
    format: Some(VcFormat::PAPER),
    methods: &[
        (0, "iota"),
        (1, "btcr"),
        (224, "key"),
        (225, "jwk"),
        (226, "web"),
        (227, "selfsame"),
        (228, "cheqd"),
    ],
};

/// The numbers and strings in the code of the paper's authors.
pub static LINKS: Profile = Profile {
    name: "links",
    syntax: Syntax::Messages(Messages {
        ssi_parameters: 60,
        did: 30,
        vc: 31,
        ssi_request: 32,
        did_verify: 33,
        has_context: true,
        is_extended: false,
        server_context: "TLS 1.3, server DidVerify",
        client_context: "TLS 1.3, client DidVerify",
    }),
    format: Some(VcFormat::PAPER),
    methods: &[(1, "ott"), (2, "btc"), (3, "eth")],
};

/// Our own profile, for what the others cannot carry. All numbers are from the ranges for private use.
pub static SELFSAME: Profile = Profile {
    name: "selfsame",
    syntax: Syntax::Messages(Messages {
        ssi_parameters: 0xff53,
        did: 228,
        vc: 229,
        ssi_request: 230,
        did_verify: 231,
        has_context: false,
        is_extended: true,
        server_context: "TLS 1.3, server selfsame DIDVerify",
        client_context: "TLS 1.3, client selfsame DIDVerify",
    }),
    format: None,
    methods: &[
        (224, "key"),
        (225, "jwk"),
        (226, "web"),
        (227, "selfsame"),
        (228, "cheqd"),
    ],
};

/// draft-vesco-vcauthtls-02. The draft leaves its numbers open; certificate type, extension and the methods it names
/// have the numbers of its authors' code. It intends credentials in CBOR but does not define them; here they are our
/// compact credentials.
pub static DRAFT: Profile = Profile {
    name: "draft",
    syntax: Syntax::CertificateType {
        vc: 224,
        did_methods: 0xff02,
    },
    format: Some(VcFormat::COSE),
    methods: &[
        (0, "btcr"),
        (1, "ethr"),
        (2, "iota"),
        (224, "key"),
        (225, "jwk"),
        (226, "web"),
        (227, "selfsame"),
        (228, "cheqd"),
    ],
};

impl Profile {
    /// The code of a DID method; `None` if the profile has none.
    pub fn method_code(&self, method: &str) -> Option<u8> {
        let found = self.methods.iter().find(|(_, name)| *name == method);
        found.map(|(code, _)| *code)
    }

    /// The DID method with this code.
    pub fn method_name(&self, code: u8) -> Option<&'static str> {
        let found = self.methods.iter().find(|(known, _)| *known == code);
        found.map(|(_, name)| *name)
    }

    /// The extension and the messages, if they carry the identities.
    pub fn messages(&self) -> Option<&Messages> {
        match &self.syntax {
            Syntax::Messages(messages) => Some(messages),
            Syntax::CertificateType { .. } => None,
        }
    }

    /// The number of the certificate type, if it carries the identities.
    pub fn certificate_type(&self) -> Option<u8> {
        match self.syntax {
            Syntax::Messages(_) => None,
            Syntax::CertificateType { vc, .. } => Some(vc),
        }
    }

    /// The number of the extension by which a client says which identities it accepts.
    pub(crate) fn extension(&self) -> u16 {
        match &self.syntax {
            Syntax::Messages(messages) => messages.ssi_parameters,
            Syntax::CertificateType { did_methods, .. } => *did_methods,
        }
    }

    /// Whether VC contains its format, DIDs are binary, and both can have staples.
    pub(crate) fn is_extended(&self) -> bool {
        self.messages().is_some_and(|messages| messages.is_extended)
    }

    /// Whether some messages begin with an empty request context.
    pub(crate) fn has_context(&self) -> bool {
        self.messages().is_some_and(|messages| messages.has_context)
    }
}
