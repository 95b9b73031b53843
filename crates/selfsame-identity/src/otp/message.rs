//! What a message with a code says, in the languages of the pages.

use super::OtpMessage;

/// The texts of one language: subject, and body with `{code}` and `{minutes}`.
struct MessageTexts {
    language: &'static str,
    subject: &'static str,
    body: &'static str,
}

const TEXTS: [MessageTexts; 5] = [
    MessageTexts {
        language: "en",
        subject: "Your code to sign in",
        body: "{code} is your code to sign in. It is valid for {minutes} minutes. Do not give it to anyone.",
    },
    MessageTexts {
        language: "fr",
        subject: "Votre code de connexion",
        body: "{code} est votre code de connexion. Il est valable {minutes} minutes. Ne le donnez à personne.",
    },
    MessageTexts {
        language: "ar",
        subject: "رمز تسجيل الدخول الخاص بك",
        body: "{code} هو رمز تسجيل الدخول الخاص بك. صلاحيته {minutes} دقائق. لا تعطه لأحد.",
    },
    MessageTexts {
        language: "hi",
        subject: "साइन इन करने के लिए आपका कोड",
        body: "{code} साइन इन करने के लिए आपका कोड है। यह {minutes} मिनट तक मान्य है। इसे किसी को न दें।",
    },
    MessageTexts {
        language: "pt",
        subject: "O seu código de acesso",
        body: "{code} é o seu código de acesso. É válido por {minutes} minutos. Não o dê a ninguém.",
    },
];

/// The subject of a message.
pub(crate) fn subject(message: &OtpMessage<'_>) -> &'static str {
    texts(message.to.locales).subject
}

/// The text of a message.
pub(crate) fn body(message: &OtpMessage<'_>) -> String {
    let minutes = message.lifetime.div_ceil(60).to_string();
    let body = texts(message.to.locales).body;
    body.replace("{code}", message.code.expose())
        .replace("{minutes}", &minutes)
}

/// The texts of the first language that there are texts for.
fn texts(locales: &[String]) -> &'static MessageTexts {
    let [first, ..] = &TEXTS;
    let language = |locale: &String| locale.split('-').next().unwrap_or_default().to_lowercase();
    let of = |language: String| TEXTS.iter().find(|texts| texts.language == language);
    locales.iter().map(language).find_map(of).unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::SecretString;
    use selfsame_sign_in::identity::OtpChannel;

    use super::super::OtpAddress;
    use super::*;

    fn told(locales: &[&str]) -> (String, String) {
        let locales: Vec<String> = locales.iter().map(|one| (*one).to_owned()).collect();
        let message = OtpMessage {
            sign_in: "sign-in",
            to: OtpAddress {
                channel: OtpChannel::Email,
                address: "maja@example.org",
                locales: &locales,
            },
            code: &SecretString::from("123456"),
            number: 1,
            lifetime: 180,
        };
        (subject(&message).to_owned(), body(&message))
    }

    #[test]
    fn a_message_is_in_the_first_language_that_it_can_be_in() {
        for texts in &TEXTS {
            let (subject, body) = told(&["de", &format!("{}-XX", texts.language), "en"]);
            assert_eq!(subject, texts.subject);
            assert!(body.contains("123456") && body.contains('3') && !body.contains('{'));
        }
        assert_eq!(told(&["de"]), told(&["en-GB"]));
        assert_eq!(told(&[]), told(&["EN"]));
    }
}
