//! What every page shows around its content: its title, the navigation, and who is signed in.

use crate::look::OwnLook;

/// What the holder of the operator token is called.
const OPERATOR: &str = "Operator";

/// What every page shows around its content.
pub struct Frame {
    /// The page's title.
    pub title: String,
    /// The section of the site.
    pub section: &'static str,
    /// The form token of its forms.
    pub form: String,
    /// What the paths of the organisation's pages begin with; empty for the one that every instance has.
    pub here: String,
    /// What the addresses of the instance's own pages begin with; empty on the instance's own host.
    pub instance: String,
    /// The roles of this instance, as far as the organisation has them.
    pub roles: InstanceRoles,
    /// The organisation whose page it is, unless it is the one that every instance has.
    pub organisation: Option<FrameOrganisation>,
    /// Whether the page leads nowhere else: it is for people who do not know this instance.
    pub is_bare: bool,
    visitor: Visitor,
}

/// An organisation around whose pages a frame stands.
#[derive(Clone, Debug)]
pub struct FrameOrganisation {
    /// Its name for people.
    pub title: String,
    /// How it looks.
    pub look: OwnLook,
    /// Whether it issues credentials.
    pub issuer: bool,
    /// Whether it requests presentations.
    pub verifier: bool,
    /// Whether it has an Aries agent.
    pub agent: bool,
    /// Whether the visitor may see the list of organisations.
    pub may_switch: bool,
}

/// What a frame is made of.
pub struct FrameParts<'a> {
    /// The path of the page, as the organisation that every instance has has it.
    pub path: &'a str,
    /// The form token of its forms; empty if it has none.
    pub form: String,
    /// What the paths of the organisation's pages begin with.
    pub here: String,
    /// What the addresses of the instance's own pages begin with; empty on the instance's own host.
    pub instance: String,
    /// The roles of this instance.
    pub roles: InstanceRoles,
    /// The organisation whose page it is, unless it is the one that every instance has.
    pub organisation: Option<FrameOrganisation>,
    /// Who looks at the page.
    pub visitor: Visitor,
}

/// The roles of an instance, to whose pages the navigation leads.
#[derive(Clone, Copy, Debug)]
pub struct InstanceRoles {
    /// Whether it issues credentials.
    pub issuer: bool,
    /// Whether it keeps people's credentials.
    pub wallet: bool,
    /// Whether it requests presentations.
    pub verifier: bool,
    /// Whether the organisation whose page it is has an Aries agent.
    pub agent: bool,
    /// Where its registry is.
    pub registry: RegistryPlace,
}

/// Where the registry of an instance is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RegistryPlace {
    /// In this process.
    Here,
    /// In another process, to whose pages the instance redirects.
    Elsewhere,
    /// Nowhere: the instance has no registry.
    Nowhere,
}

/// Who looks at a page, as far as its session tells.
#[derive(Clone, Debug)]
pub enum Visitor {
    /// Someone who works for an organisation, on a page that needs their session.
    Operator {
        /// Their e-mail address; `None` for the holder of the operator token.
        email: Option<String>,
    },
    /// A person with a wallet, on a page that needs their session.
    Person {
        /// Their e-mail address.
        email: String,
    },
    /// Anyone, on a page that needs no session. The browser may have sessions all the same.
    Anyone {
        /// Whose operator's session it has: an e-mail address, or for the holder of the operator token another word.
        operator: Option<String>,
        /// The e-mail address of the person whose session it has.
        person: Option<String>,
    },
}

/// An entry of the main navigation.
pub struct NavigationEntry {
    /// Its link.
    pub href: String,
    /// Its label.
    pub label: &'static str,
    /// Whether this page belongs to it.
    pub current: bool,
}

impl Frame {
    /// The frame of a page, before the page has its title.
    pub fn new(parts: FrameParts<'_>) -> Self {
        let frame = Self {
            title: "Selfsame".to_owned(),
            section: section(parts.path),
            form: parts.form,
            here: String::new(),
            instance: parts.instance,
            roles: parts.roles,
            organisation: None,
            is_bare: false,
            visitor: parts.visitor,
        };
        match parts.organisation {
            Some(organisation) => frame.within(parts.here, organisation),
            None => Self {
                here: parts.here,
                ..frame
            },
        }
    }

    /// The frame around a page of this organisation, whose paths begin with `here`.
    pub fn within(mut self, here: String, organisation: FrameOrganisation) -> Self {
        self.here = here;
        self.roles.issuer &= organisation.issuer;
        self.roles.verifier &= organisation.verifier;
        self.roles.agent = organisation.agent;
        self.organisation = Some(organisation);
        self
    }

    /// The frame of a page for people who do not know this instance: it shows who asks, and leads nowhere else.
    pub fn bare(self, title: &str, look: &OwnLook) -> Self {
        let organisation = FrameOrganisation {
            title: title.to_owned(),
            look: look.clone(),
            issuer: self.roles.issuer,
            verifier: self.roles.verifier,
            agent: self.roles.agent,
            may_switch: false,
        };
        Self {
            organisation: Some(organisation),
            is_bare: true,
            ..self
        }
    }

    /// The frame with this title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The frame of a page shown again after an error. The title starts with the error, so that screen readers
    /// announce it first.
    pub fn failed(self, title: &str) -> Self {
        self.titled(format!("Error: {title}"))
    }

    /// The operator's first page.
    pub fn home(&self) -> &'static str {
        match &self.roles {
            InstanceRoles { issuer: true, .. } => "/issuer",
            InstanceRoles { verifier: true, .. } => "/verifier",
            InstanceRoles {
                registry: RegistryPlace::Here,
                ..
            } => "/registry",
            _ => "/",
        }
    }

    /// The main navigation, by the roles and by who looks at the page: pages of the organisation, and of the instance.
    pub fn entries(&self) -> Vec<NavigationEntry> {
        let roles = &self.roles;
        let has_registry = roles.registry != RegistryPlace::Nowhere;
        let (own, instances) = (self.here.as_str(), self.instance.as_str());
        // A visitor who has not signed in may become an operator or a holder, so both parts are shown.
        let works_here = self.leads_operators();
        let holds_cards = self.is_holder() || !self.is_operator();
        [
            ("issuer", own, "Issuer", roles.issuer && works_here),
            ("wallet", instances, "Wallet", roles.wallet && holds_cards),
            ("verifier", own, "Verifier", roles.verifier && works_here),
            ("agent", own, "Agent", roles.agent && self.is_operator()),
            ("registry", instances, "Registry", has_registry),
            ("resolver", instances, "Resolver", works_here),
            ("organisation", own, "Organisation", self.is_operator()),
        ]
        .into_iter()
        .filter(|(.., is_shown)| *is_shown)
        .map(|(section, place, label, _)| NavigationEntry {
            href: format!("{place}/{section}"),
            label,
            current: section == self.section,
        })
        .collect()
    }

    /// The address that ends this page's session, if there is one.
    pub fn sign_out(&self) -> Option<&'static str> {
        match self.visitor {
            Visitor::Operator { .. } => Some("/operator/sign-out"),
            Visitor::Person { .. } => Some("/wallet/sign-out"),
            Visitor::Anyone { .. } => None,
        }
    }

    /// Whether the operator is signed in.
    pub fn is_operator(&self) -> bool {
        matches!(
            self.visitor,
            Visitor::Operator { .. }
                | Visitor::Anyone {
                    operator: Some(_),
                    ..
                }
        )
    }

    /// Whether a person with a wallet is signed in.
    pub fn is_holder(&self) -> bool {
        matches!(
            self.visitor,
            Visitor::Person { .. }
                | Visitor::Anyone {
                    person: Some(_),
                    ..
                }
        )
    }

    /// Whether the page leads to where operators sign in.
    pub fn leads_operators(&self) -> bool {
        // Their sessions belong to the instance's host.
        let is_there = self.instance.is_empty();
        is_there && (self.is_operator() || !self.is_holder())
    }

    /// Who is signed in, as text.
    pub fn who(&self) -> &str {
        match &self.visitor {
            Visitor::Person { email }
            | Visitor::Operator { email: Some(email) }
            | Visitor::Anyone {
                person: Some(email),
                ..
            }
            | Visitor::Anyone {
                operator: Some(email),
                ..
            } => email,
            Visitor::Operator { email: None } => OPERATOR,
            Visitor::Anyone { .. } => "",
        }
    }
}

fn section(path: &str) -> &'static str {
    match path.split('/').nth(1) {
        Some("issuer") => "issuer",
        Some("wallet") => "wallet",
        Some("verifier") => "verifier",
        Some("agent") => "agent",
        Some("registry" | "browse") => "registry",
        Some("resolver") => "resolver",
        Some("operator") => "operator",
        Some(
            "organisation" | "organisations" | "trust" | "types" | "clients" | "people"
            | "webhooks" | "audit",
        ) => "organisation",
        _ => "home",
    }
}

#[cfg(test)]
impl Frame {
    /// The frame of a page for a visitor without a session.
    pub fn of_visitor() -> Self {
        Self::new(FrameParts {
            path: "/wallet",
            form: "token".to_owned(),
            here: String::new(),
            instance: String::new(),
            roles: InstanceRoles {
                issuer: true,
                wallet: true,
                verifier: true,
                agent: false,
                registry: RegistryPlace::Here,
            },
            organisation: None,
            visitor: Visitor::Anyone {
                operator: None,
                person: None,
            },
        })
    }

    /// The same frame for a browser that has the operator's session.
    pub fn with_operator(self, operator: bool) -> Self {
        let person = None;
        let operator = operator.then(|| OPERATOR.to_owned());
        Self {
            visitor: Visitor::Anyone { operator, person },
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, registry: RegistryPlace) -> Frame {
        let mut frame = Frame::of_visitor();
        frame.section = section(path);
        frame.roles = InstanceRoles {
            issuer: false,
            wallet: false,
            verifier: false,
            agent: false,
            registry,
        };
        frame
    }

    #[test]
    fn the_navigation_leads_to_the_registry_wherever_it_is() {
        let labels = |place| -> Vec<&str> {
            let frame = of("/browse/pool", place);
            let entries = frame.entries().into_iter();
            let marked = |entry: &NavigationEntry| entry.current == (entry.label == "Registry");
            entries.filter(marked).map(|entry| entry.label).collect()
        };
        assert_eq!(labels(RegistryPlace::Here), ["Registry", "Resolver"]);
        assert_eq!(labels(RegistryPlace::Elsewhere), ["Registry", "Resolver"]);
        assert_eq!(labels(RegistryPlace::Nowhere), ["Resolver"]);
    }

    #[test]
    fn the_navigation_at_a_host_of_an_organisation_leads_to_the_instance_and_not_to_those_who_work_there()
     {
        let mut frame = of("/ask/age", RegistryPlace::Here);
        frame.instance = "https://id.example".to_owned();
        frame.roles.wallet = true;
        frame.roles.issuer = true;
        let entries = frame.entries().into_iter();
        let links: Vec<String> = entries.map(|entry| entry.href).collect();
        let expected = ["https://id.example/wallet", "https://id.example/registry"];
        assert_eq!(links, expected);
        assert!(!frame.leads_operators());
    }

    #[test]
    fn the_navigation_of_an_organisation_leads_to_its_own_pages() {
        let organisation = FrameOrganisation {
            title: "Acme Corporation".to_owned(),
            look: OwnLook::default(),
            issuer: true,
            verifier: false,
            agent: true,
            may_switch: true,
        };
        let mut frame = Frame::of_visitor().with_operator(true);
        frame.section = section("/people");
        let entries = frame.entries();
        let last = entries.last().unwrap();
        assert_eq!(last.href, "/organisation");
        assert!(last.current);
        let frame = frame.within("/o/acme".to_owned(), organisation);
        let hrefs = frame.entries().into_iter().map(|entry| entry.href);
        let expected = [
            "/o/acme/issuer",
            "/o/acme/agent",
            "/registry",
            "/resolver",
            "/o/acme/organisation",
        ];
        assert_eq!(hrefs.collect::<Vec<_>>(), expected);
        let of_visitor = Frame::of_visitor().entries();
        assert!(of_visitor.iter().all(|entry| entry.label != "Organisation"));
    }

    #[test]
    fn the_navigation_leads_each_to_their_own_pages() {
        let labels = |visitor| -> Vec<&str> {
            let frame = Frame {
                visitor,
                ..Frame::of_visitor()
            };
            frame
                .entries()
                .into_iter()
                .map(|entry| entry.label)
                .collect()
        };
        let email = "maja@example.org".to_owned();
        let operator = || Some(OPERATOR.to_owned());
        let holder = labels(Visitor::Person {
            email: email.clone(),
        });
        assert_eq!(holder, ["Wallet", "Registry"]);
        let clerk = ["Issuer", "Verifier", "Registry", "Resolver", "Organisation"];
        assert_eq!(labels(Visitor::Operator { email: None }), clerk);
        let anyone = |operator, person| labels(Visitor::Anyone { operator, person });
        assert_eq!(anyone(None, Some(email.clone())), holder);
        assert_eq!(anyone(operator(), None), clerk);
        let both = [
            "Issuer",
            "Wallet",
            "Verifier",
            "Registry",
            "Resolver",
            "Organisation",
        ];
        assert_eq!(anyone(operator(), Some(email)), both);
        let nobody = ["Issuer", "Wallet", "Verifier", "Registry", "Resolver"];
        assert_eq!(anyone(None, None), nobody);
    }

    #[test]
    fn the_operators_first_page_is_one_of_this_process() {
        assert_eq!(of("/", RegistryPlace::Here).home(), "/registry");
        assert_eq!(of("/", RegistryPlace::Elsewhere).home(), "/");
        assert_eq!(Frame::of_visitor().home(), "/issuer");
    }

    #[test]
    fn a_session_is_ended_only_from_pages_that_need_it() {
        let of = |visitor| Frame {
            visitor,
            ..Frame::of_visitor()
        };
        let email = || "maja@example.org".to_owned();
        let person = of(Visitor::Person { email: email() });
        assert_eq!(person.who(), "maja@example.org");
        assert!(person.sign_out().is_some() && !person.is_operator());
        let both = of(Visitor::Anyone {
            operator: Some(OPERATOR.to_owned()),
            person: Some(email()),
        });
        assert_eq!(both.who(), "maja@example.org");
        assert!(both.sign_out().is_none() && both.is_operator());
        let clerk = of(Visitor::Operator {
            email: Some(email()),
        });
        assert_eq!(clerk.who(), "maja@example.org");
        assert!(clerk.sign_out().is_some() && clerk.is_operator());
        let clerk_elsewhere = of(Visitor::Anyone {
            operator: Some(email()),
            person: None,
        });
        assert_eq!(clerk_elsewhere.who(), "maja@example.org");
        assert_eq!(of(Visitor::Operator { email: None }).who(), "Operator");
        assert_eq!(Frame::of_visitor().who(), "");
    }
}
