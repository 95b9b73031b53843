//! The wire numbers of the identity messages, all in one table, one profile a source.

/// How one source writes the extension and the messages.
#[derive(Debug, Eq, PartialEq)]
pub struct Profile {
    /// The profile's name.
    pub name: &'static str,
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
    /// Whether VC says its format, DIDs are binary, and staples can come with both.
    pub is_extended: bool,
    /// What a server's DIDVerify is signed for.
    pub server_context: &'static str,
    /// What a client's DIDVerify is signed for.
    pub client_context: &'static str,
    /// The codes of DID methods.
    pub methods: &'static [(u8, &'static str)],
}

/// The paper's syntax. It gives no numbers to extension and messages, so these are from the ranges for private use;
/// so are the codes of the DID methods it does not name.
pub static PAPER: Profile = Profile {
    name: "paper",
    ssi_parameters: 0xff3c,
    did: 224,
    vc: 225,
    ssi_request: 226,
    did_verify: 227,
    has_context: false,
    is_extended: false,
    server_context: "TLS 1.3, server DIDVerify",
    client_context: "TLS 1.3, client DIDVerify",
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

/// The numbers and strings of the paper's authors' code.
pub static LINKS: Profile = Profile {
    name: "links",
    ssi_parameters: 60,
    did: 30,
    vc: 31,
    ssi_request: 32,
    did_verify: 33,
    has_context: true,
    is_extended: false,
    server_context: "TLS 1.3, server DidVerify",
    client_context: "TLS 1.3, client DidVerify",
    methods: &[(1, "ott"), (2, "btc"), (3, "eth")],
};

/// Our own: what the others cannot carry. All numbers are from the ranges for private use.
pub static SELFSAME: Profile = Profile {
    name: "selfsame",
    ssi_parameters: 0xff53,
    did: 228,
    vc: 229,
    ssi_request: 230,
    did_verify: 231,
    has_context: false,
    is_extended: true,
    server_context: "TLS 1.3, server selfsame DIDVerify",
    client_context: "TLS 1.3, client selfsame DIDVerify",
    methods: &[
        (224, "key"),
        (225, "jwk"),
        (226, "web"),
        (227, "selfsame"),
        (228, "cheqd"),
    ],
};

impl Profile {
    /// The code of a DID method, if the profile has one.
    pub fn method_code(&self, method: &str) -> Option<u8> {
        let found = self.methods.iter().find(|(_, name)| *name == method);
        found.map(|(code, _)| *code)
    }

    /// The DID method with this code.
    pub fn method_name(&self, code: u8) -> Option<&'static str> {
        let found = self.methods.iter().find(|(known, _)| *known == code);
        found.map(|(_, name)| *name)
    }
}
