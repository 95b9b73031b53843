//! The page that erases an organisation.

use askama::Template;
use selfsame_core::organisation::view::{ErasureForecast, OrganisationView};

use crate::{Frame, WrongFields};

/// What an erasure would make unverifiable and when, and the form that asks for the name.
#[derive(Template)]
#[template(path = "organisation_erase.html")]
pub struct ErasurePage {
    frame: Frame,
    one: OrganisationView,
    forecast: ErasureForecast,
    /// Until when what others need is kept.
    until: String,
    now: bool,
    wrong: WrongFields,
}

impl ErasurePage {
    /// The page for this organisation.
    pub fn of(frame: Frame, one: OrganisationView, forecast: ErasureForecast) -> Self {
        let erasure = one.erasure.as_ref();
        Self {
            frame: frame.titled(format!("Erase {}", one.title)),
            until: erasure
                .map_or(&forecast.until, |erasure| &erasure.until)
                .clone(),
            now: erasure.is_some(),
            one,
            forecast,
            wrong: WrongFields::default(),
        }
    }

    /// The page again, with what is wrong.
    pub fn refused(self, now: bool, wrong: WrongFields) -> Self {
        let title = format!("Erase {}", self.one.title);
        Self {
            frame: self.frame.failed(&title),
            now: now || self.one.erasure.is_some(),
            wrong,
            ..self
        }
    }

    fn is_erased(&self) -> bool {
        self.one.erasure.is_some()
    }

    /// How many credentials become unverifiable.
    fn credentials(&self) -> String {
        let more = match self.forecast.and_more {
            true => "at least ",
            false => "",
        };
        match (self.forecast.valid_credentials, self.forecast.and_more) {
            (0, false) => "No credential that it issued is valid now".to_owned(),
            (1, false) => "1 credential that it issued is valid now".to_owned(),
            (count, _) => {
                let begin = format!("{more}{count} credentials that it issued are valid now");
                crate::text::sentence(&begin)
                    .trim_end_matches('.')
                    .to_owned()
            }
        }
    }
}
