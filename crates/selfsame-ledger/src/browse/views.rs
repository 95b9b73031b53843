//! The three ledgers of Indy as views of the one log. Each operation has a type in one of them.

/// One of Indy's ledgers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IndyLedger {
    /// Identifiers and what they publish.
    Domain,
    /// The validators.
    Pool,
    /// The rules and the author agreement.
    Config,
}

/// A type of transaction as Indy numbers them (indy-node, `docs/source/transactions.md`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Type {
    /// The validators.
    Node,
    /// A DID with its key and role.
    Nym,
    /// The author agreement.
    Agreement,
    /// Other statements about a DID: status lists, resources, delegations, uses.
    Attrib,
    /// An AnonCreds schema.
    Schema,
    /// An AnonCreds credential definition.
    ClaimDef,
    /// The definition of a revocation registry.
    RevocRegDef,
    /// A change of a revocation registry.
    RevocRegEntry,
    /// Rules.
    AuthRule,
}

impl IndyLedger {
    /// All views.
    pub const ALL: [Self; 3] = [Self::Domain, Self::Pool, Self::Config];

    /// Its name in URLs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Pool => "pool",
            Self::Config => "config",
        }
    }

    /// The view with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }
}

impl Type {
    /// All types.
    pub const ALL: [Self; 9] = [
        Self::Node,
        Self::Nym,
        Self::Agreement,
        Self::Attrib,
        Self::Schema,
        Self::ClaimDef,
        Self::RevocRegDef,
        Self::RevocRegEntry,
        Self::AuthRule,
    ];

    /// The type of a kind of operation.
    pub(super) fn of(kind: &str) -> Self {
        match kind {
            "change_validators" | "validator" => Self::Node,
            "create_did" | "update_did" | "deactivate_did" | "register_did" | "set_role"
            | "member" => Self::Nym,
            "set_agreement" => Self::Agreement,
            "change_rules" | "first_rules" => Self::AuthRule,
            "schema" => Self::Schema,
            "credential_definition" => Self::ClaimDef,
            "revocation_registry" => Self::RevocRegDef,
            "revocation_entry" => Self::RevocRegEntry,
            _ => Self::Attrib,
        }
    }

    /// Its number in Indy.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Node => "0",
            Self::Nym => "1",
            Self::Agreement => "4",
            Self::Attrib => "100",
            Self::Schema => "101",
            Self::ClaimDef => "102",
            Self::RevocRegDef => "113",
            Self::RevocRegEntry => "114",
            Self::AuthRule => "120",
        }
    }

    /// Its name, as von-network writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "NODE",
            Self::Nym => "NYM",
            Self::Agreement => "TXN_AUTHOR_AGREEMENT",
            Self::Attrib => "ATTRIB",
            Self::Schema => "SCHEMA",
            Self::ClaimDef => "CRED_DEF",
            Self::RevocRegDef => "REVOC_REG_DEF",
            Self::RevocRegEntry => "REVOC_REG_ENTRY",
            Self::AuthRule => "AUTH_RULE",
        }
    }

    /// The view that it belongs to.
    #[must_use]
    pub fn view(self) -> IndyLedger {
        match self {
            Self::Node => IndyLedger::Pool,
            Self::Agreement | Self::AuthRule => IndyLedger::Config,
            _ => IndyLedger::Domain,
        }
    }

    /// The type with this number.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The type of an operation.
    #[must_use]
    pub fn of_operation(operation: &crate::view::browse::OperationView) -> Self {
        Self::of(&operation.kind)
    }
}
