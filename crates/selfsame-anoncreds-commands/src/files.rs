//! Messages in files and pipes.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::{KeyCorrectnessProof, LINK_SECRET};
use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{
    Credential, CredentialDefinition, CredentialDefinitionPrivate, CredentialOffer,
    CredentialRequest, CredentialRequestMetadata, Message, Presentation, PresentationRequest,
    RevocationRegistryDefinition, RevocationRegistryPrivate, RevocationStatusList, Schema,
    Text as _,
};
use selfsame_anoncreds_roles::HeldCredential;
use selfsame_crypto::ctx::Ctx;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::output;

use crate::failure::failed;
use selfsame_driver::private_file;

/// Maximum size of a message, in bytes, so that an endless pipe is not read for ever.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a message from its file; `-` is standard input.
pub fn read<M: Message>(file: &Path) -> Result<M, Failure> {
    let text = text(file)?;
    M::from_json(text.as_bytes())
        .map_err(|error| of_file(file, error).hint(guess(text.as_bytes(), M::WHAT)))
}

/// Reads a finished credential from its file; `-` is standard input.
pub fn held(file: &Path) -> Result<HeldCredential, Failure> {
    let text = text(file)?;
    HeldCredential::from_json(text.as_bytes())
        .map_err(|error| of_file(file, error).hint(guess(text.as_bytes(), Credential::WHAT)))
}

/// Reads a credential definition and checks its keys.
pub fn prepared(file: &Path) -> Result<PreparedDefinition, Failure> {
    PreparedDefinition::new(read(file)?).map_err(|error| of_file(file, error))
}

/// Reads a message from its file, or from standard input if no file is named.
pub fn read_or_pipe<M: Message>(file: Option<&PathBuf>) -> Result<M, Failure> {
    read(file.map_or(Path::new("-"), PathBuf::as_path))
}

/// A file's text; `-` is standard input.
pub fn text(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if is_pipe(file) {
        let input = std::io::stdin();
        if input.is_terminal() {
            return Err(Failure::environment("standard input is a terminal")
                .hint("name the file, or redirect it: < FILE"));
        }
        input.take(MOST_BYTES).read_to_string(&mut text)
    } else {
        std::fs::File::open(file)
            .and_then(|opened| opened.take(MOST_BYTES).read_to_string(&mut text))
    };
    read.map_err(|error| {
        Failure::environment(format!("{}: {error}", place(file))).hint("name an existing text file")
    })?;
    Ok(text)
}

/// Prints a message.
pub fn print<M: Message>(message: &M) -> Result<(), Failure> {
    output::say(message.to_json().map_err(failed)?.as_json());
    Ok(())
}

/// Prints a finished credential.
pub fn print_held(held: &HeldCredential) -> Result<(), Failure> {
    let text = std::str::from_utf8(held.json().expose());
    output::say(text.map_err(|error| Failure::ours(error.to_string()))?);
    Ok(())
}

/// Refuses an existing file, before anything is computed or requested: for secrets, and for data that can't be remade.
pub fn must_be_new(file: &Path) -> Result<(), Failure> {
    if file.exists() {
        let there = format!("{} already exists", file.display());
        return Err(
            Failure::environment(there).hint("existing files are not overwritten: name a new file")
        );
    }
    Ok(())
}

/// Writes a message into a new file that only its owner can read.
pub fn keep<M: Message>(file: &Path, message: &M) -> Result<(), Failure> {
    Ok(private_file::write(
        file,
        message.to_json().map_err(failed)?.as_json().as_bytes(),
    )?)
}

/// Writes a message that may be read by anyone.
pub fn put<M: Message>(file: &Path, message: &M) -> Result<(), Failure> {
    std::fs::write(file, message.to_json().map_err(failed)?.as_json())
        .map_err(|error| Failure::environment(format!("{}: {error}", file.display())))
}

/// The time and the source of randomness of one step.
pub fn ctx() -> Ctx {
    selfsame_driver::clock::Clock::default().ctx()
}

/// Seconds since 1970.
pub fn seconds(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "expected seconds since 1970, as `date +%s` prints them".to_owned())
}

/// A place in a registry.
pub fn index(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| "expected an index, from 1".to_owned())
}

/// A value under a name: `NAME=VALUE`, split at the first `=`.
pub fn named(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A number under an identifier: `ID=NUMBER`.
pub fn numbered(text: &str) -> Result<(String, u64), String> {
    let parts = text.rsplit_once('=');
    let numbered = parts.and_then(|(id, number)| Some((id.to_owned(), number.parse().ok()?)));
    numbered.ok_or_else(|| "expected ID=NUMBER".to_owned())
}

/// A file under an identifier: `ID=FILE`, split at the last `=`, since an identifier may contain one.
pub fn identified(text: &str) -> Result<(String, PathBuf), String> {
    let (id, file) = text.rsplit_once('=').ok_or("expected ID=FILE")?;
    Ok((id.to_owned(), PathBuf::from(file)))
}

fn is_pipe(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The file's name in messages.
fn place(file: &Path) -> String {
    if is_pipe(file) {
        "standard input".to_owned()
    } else {
        file.display().to_string()
    }
}

/// A failure about a file's content; a negative answer remains one.
pub fn of_file(file: &Path, error: Error) -> Failure {
    failed(error).at(&place(file))
}

/// The attribute names of a definition's credentials.
pub fn attributes(of: &PreparedDefinition) -> String {
    let names = of.definition().value.primary.r.keys();
    let named = names.filter(|name| *name != LINK_SECRET);
    named.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// A hint about a message that is not of the wanted kind: it may be of another kind.
fn guess(json: &[u8], wanted: &str) -> String {
    if json.trim_ascii().is_empty() {
        return "the file is empty: did the step that writes it succeed?".to_owned();
    }
    let kinds = [
        is::<Presentation>,
        is::<Credential>,
        is::<CredentialRequestMetadata>,
        is::<CredentialRequest>,
        is::<CredentialOffer>,
        is::<KeyCorrectnessProof>,
        is::<CredentialDefinitionPrivate>,
        is::<CredentialDefinition>,
        is::<RevocationRegistryPrivate>,
        is::<RevocationRegistryDefinition>,
        is::<RevocationStatusList>,
        is::<PresentationRequest>,
        is::<Schema>,
    ];
    match kinds.iter().find_map(|is| is(json)) {
        Some(kind) if kind != wanted => format!("this is {kind}; {wanted} is expected here"),
        _ => "docs/anoncreds.md shows each step with the files it reads".to_owned(),
    }
}

/// The name of this kind of message, if the JSON is one.
fn is<M: Message>(json: &[u8]) -> Option<&'static str> {
    M::from_json(json).is_ok().then_some(M::WHAT)
}
