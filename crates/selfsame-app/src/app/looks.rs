//! Changes of how an organisation looks to people: its logo and its colour are checked before they are stored.

use selfsame_core::organisation::look::{Changed, CheckedLook, LogoFile, LookChange, LookView};
use selfsame_driver::{Error, Result};
use selfsame_openid::OrganisationRoles;
use selfsame_types::color::readable_on;
use selfsame_types::image::{CARD_IMAGE_BYTES_MAX, logo_refused, picture};

use super::App;

impl App {
    /// Changes how an organisation looks.
    ///
    /// # Errors
    /// `BadRequest` if the logo is not a safe image or the colour is malformed; the store's errors.
    pub async fn change_look(
        &self,
        roles: &OrganisationRoles,
        change: &LookChange,
    ) -> Result<LookView> {
        let checked = checked(change)?;
        let organisations = self.roles.organisations();
        let changed = organisations.change_look(&roles.organisation, &checked);
        changed.await?.view(&roles.organisation)
    }
}

fn checked(change: &LookChange) -> Result<CheckedLook> {
    Ok(CheckedLook {
        logo: changed(change.logo.as_deref(), logo)?,
        colour: changed(change.colour.as_deref(), colour)?,
    })
}

fn changed<T>(told: Option<&str>, check: impl FnOnce(&str) -> Result<T>) -> Result<Changed<T>> {
    Ok(match told {
        None => Changed::No,
        Some("") => Changed::To(None),
        Some(told) => Changed::To(Some(check(told)?)),
    })
}

fn logo(uri: &str) -> Result<LogoFile> {
    let picture = picture(uri, CARD_IMAGE_BYTES_MAX).map_err(logo_refused)?;
    Ok(LogoFile {
        media: picture.media.to_owned(),
        bytes: picture.bytes,
    })
}

/// A text is readable on every colour, in white or in black.
fn colour(told: &str) -> Result<String> {
    let colour = told.trim().to_ascii_lowercase();
    match readable_on(&colour) {
        Some(_) => Ok(colour),
        None => Err(Error::bad_request("colour-malformed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: &LookChange) -> String {
        let refused = checked(change).err().unwrap();
        refused.reason.id().to_owned()
    }

    #[test]
    fn a_colour_has_six_digits_and_is_kept_in_small_letters() {
        let of = |colour: &str| LookChange {
            colour: Some(colour.to_owned()),
            ..LookChange::default()
        };
        let kept = checked(&of(" #1F4E79")).unwrap().colour;
        assert!(matches!(kept, Changed::To(Some(colour)) if colour == "#1f4e79"));
        let removed = checked(&of("")).unwrap();
        assert!(matches!(removed.colour, Changed::To(None)));
        assert!(matches!(removed.logo, Changed::No));
        for wrong in ["red", "#fff", "#12345g", "1f4e79", "#1f4e79ff", "url(x)"] {
            assert_eq!(refused(&of(wrong)), "colour-malformed", "{wrong}");
        }
    }

    #[test]
    fn a_logo_is_an_image_that_runs_nothing_and_is_not_large() {
        let of = |media: &str, file: &[u8]| LookChange {
            logo: Some(format!(
                "data:{media};base64,{}",
                selfsame_crypto::encoding::base64_encode(file)
            )),
            ..LookChange::default()
        };
        let svg = "image/svg+xml";
        let drawing = br#"<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9"/></svg>"#;
        let kept = checked(&of(svg, drawing)).unwrap().logo;
        assert!(
            matches!(kept, Changed::To(Some(logo)) if logo.media == svg && logo.bytes == drawing)
        );
        let script = br#"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#;
        let large = vec![b' '; CARD_IMAGE_BYTES_MAX + 1];
        for wrong in [
            of(svg, script),
            of(svg, &large),
            of("image/png", drawing),
            of("text/html", b"<p>"),
            LookChange {
                logo: Some("https://logos.example/a.png".to_owned()),
                ..LookChange::default()
            },
        ] {
            assert_eq!(refused(&wrong), "logo-refused");
        }
    }
}
