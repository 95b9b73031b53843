//! The page of a sign-in, by what comes next in it.

use selfsame_http::error::Handled;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::view::{SignInStage, SignInView};
use selfsame_sign_in_pages::{CodeChannels, OtherWay, Saying, TypedWay, WayKind, WaysPage};

use super::agreeing;
use super::call::{SignInCall, led, named, shown};
use super::elsewhere::ElsewhereWay;
use super::refusal::refused;

/// A way that is typed in on a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PageWay {
    Code,
    Password,
    PasswordAndApp,
    Pin,
    AppCode,
}

impl PageWay {
    const ALL: [Self; 5] = [
        Self::Code,
        Self::Password,
        Self::PasswordAndApp,
        Self::Pin,
        Self::AppCode,
    ];

    /// Its name in addresses and forms.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "otp",
            Self::Password => "password",
            Self::PasswordAndApp => "password-totp",
            Self::Pin => "pin",
            Self::AppCode => "totp",
        }
    }

    /// The way of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|way| way.name() == name)
    }

    /// The factors.
    pub fn factors(self) -> &'static [FactorKind] {
        match self {
            Self::Code => &[FactorKind::Otp],
            Self::Password => &[FactorKind::Password],
            Self::PasswordAndApp => &[FactorKind::Password, FactorKind::Totp],
            Self::Pin => &[FactorKind::Pin],
            Self::AppCode => &[FactorKind::Totp],
        }
    }

    /// Whether it gives all of these factors, and no other.
    fn gives(self, wanted: &[FactorKind]) -> bool {
        let own = self.factors();
        own.len() == wanted.len() && own.iter().all(|factor| wanted.contains(factor))
    }

    fn typed(self) -> TypedWay {
        match self {
            Self::Code => TypedWay::Code(CodeChannels {
                email: true,
                phone: true,
            }),
            Self::Password => TypedWay::Password,
            Self::PasswordAndApp => TypedWay::PasswordAndAppCode,
            Self::Pin => TypedWay::Pin,
            Self::AppCode => TypedWay::AppCode,
        }
    }

    fn kind(self) -> WayKind {
        match self {
            Self::Code => WayKind::Code,
            Self::Password => WayKind::Password,
            Self::PasswordAndApp => WayKind::PasswordAndAppCode,
            Self::Pin => WayKind::Pin,
            Self::AppCode => WayKind::AppCode,
        }
    }
}

/// The page of a sign-in.
pub async fn page(call: SignInCall) -> Handled {
    let view = match call.here.provider.view(&call.visitor()).await {
        Ok(view) => view,
        Err(error) => return refused(&call, error),
    };
    match view.stage {
        SignInStage::Authentication => match only_elsewhere(&call, &view) {
            Some(way) => led(&call.step(way.step())),
            None => shown(&asked(&call, &view, None)),
        },
        SignInStage::Consent => shown(&agreeing::asked(&call, &view)),
        SignInStage::Agreed => agreeing::ended(&call).await,
    }
}

/// The first way with a page of its own, if nothing can be typed in.
fn only_elsewhere(call: &SignInCall, view: &SignInView) -> Option<ElsewhereWay> {
    let typed = typed(view);
    ElsewhereWay::of(call, view)
        .next()
        .filter(|_| typed.is_empty())
}

/// The ways that are typed in.
fn typed(view: &SignInView) -> Vec<PageWay> {
    // Other combinations of factors need a client of their own.
    let suffices = |way: &PageWay| view.factors.iter().any(|wanted| way.gives(wanted));
    PageWay::ALL.into_iter().filter(suffices).collect()
}

/// Leads back to the page of a sign-in from the address of a form.
pub async fn back(call: SignInCall) -> Handled {
    match call.here.provider.view(&call.visitor()).await {
        Ok(_) => led(&call.step("")),
        Err(error) => refused(&call, error),
    }
}

/// The page that asks a person who they are, with what they can correct.
pub(super) fn asked(call: &SignInCall, view: &SignInView, problem: Option<TypedEntry>) -> WaysPage {
    let language = call.language(&view.ui_locales);
    let ways = typed(view);
    let chosen = PageWay::of(&call.way).filter(|way| ways.contains(way));
    let typed = problem.as_ref().map(|typed| typed.way);
    let way = typed.or(chosen).or_else(|| ways.first().copied());
    let way = way.unwrap_or(PageWay::Password);
    let others = ways.into_iter().filter(|other| *other != way);
    let action = match way {
        PageWay::Code => call.step("/code"),
        _ => call.step("/proof"),
    };
    let hint = view.login_hint.clone().unwrap_or_default();
    let (identifier, problem) = match problem {
        Some(typed) => (typed.identifier, Some(typed.problem)),
        None => (hint, None),
    };
    WaysPage {
        frame: call.frame(language, format!("{}?way={}", call.address(), way.name())),
        client: named(&view.client, language),
        logo: view.client.logo.clone(),
        identifier,
        way: way.typed(),
        others: others
            .map(|other| other_way(call, other))
            .chain(ElsewhereWay::of(call, view).map(|way| way.link(call)))
            .collect(),
        action,
        problem,
    }
}

/// What was typed in, and what is wrong with it.
pub(super) struct TypedEntry {
    pub way: PageWay,
    pub identifier: String,
    pub problem: Saying,
}

fn other_way(call: &SignInCall, way: PageWay) -> OtherWay {
    OtherWay {
        kind: way.kind(),
        href: call.with(&call.step(""), &format!("way={}", way.name())),
    }
}
