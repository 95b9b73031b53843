//! The files of types: written, and read with the images beside them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use selfsame_crypto::encoding;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_types::TypeDefinition;
use selfsame_types::file::{read_json, read_toml};
use selfsame_types::model::CardImage;

use crate::client::handed_in;

/// The extensions of images, with their media types.
const IMAGES: [(&str, &str); 5] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
];

/// Writes a file to begin with.
pub(super) fn write_new(id: &str, out: Option<PathBuf>) -> End {
    let path = out.unwrap_or_else(|| PathBuf::from(format!("{id}.toml")));
    let text = include_str!("new.toml").replace("ID", id);
    let definition = read_toml(&text)?;
    selfsame_types::check(&definition).result()?;
    if path.exists() {
        let message = format!("{} exists already", path.display());
        return Err(Failure::environment(message).hint("name another file with --out"));
    }
    fs::write(&path, text).map_err(|error| at(&path, &error))?;
    output::say(&format!("wrote {}", path.display()));
    Ok(Answer::Yes)
}

/// Reads a type's file. Images that are paths are put in their places.
pub(super) fn read(path: &Path) -> Result<TypeDefinition, Failure> {
    let bytes = bytes(path)?;
    let mut definition = match path.extension().is_some_and(|end| end == "json") {
        true => read_json(&bytes)?,
        false => {
            let not_text = || Failure::environment(format!("{}: not UTF-8", path.display()));
            read_toml(str::from_utf8(&bytes).map_err(|_| not_text())?)?
        }
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let card = &mut definition.card;
    for image in [&mut card.logo, &mut card.background].into_iter().flatten() {
        embed(image, folder)?;
    }
    Ok(definition)
}

/// The bytes of a file, up to a limit.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    File::open(path)
        .and_then(handed_in)
        .map_err(|error| at(path, &error))
}

/// Puts an image that is a path into its `data:` URI.
fn embed(image: &mut CardImage, folder: &Path) -> Result<(), Failure> {
    if image.uri.contains(':') {
        return Ok(());
    }
    let path = folder.join(&image.uri);
    let end = path
        .extension()
        .and_then(|end| end.to_str())
        .unwrap_or_default();
    let known = IMAGES
        .iter()
        .find(|(known, _)| end.eq_ignore_ascii_case(known));
    let Some((_, media)) = known else {
        let message = format!("{}: not a PNG, JPEG, WebP or SVG", path.display());
        return Err(Failure::environment(message));
    };
    let data = encoding::base64_encode(&bytes(&path)?);
    image.uri = format!("data:{media};base64,{data}");
    Ok(())
}

fn at(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_can_be_published_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.toml");
        write_new("membership-2", Some(path.clone())).unwrap();
        let definition = read(&path).unwrap();
        assert_eq!(definition.id, "membership-2");
        assert!(selfsame_types::check(&definition).refusals.is_empty());
        assert!(write_new("membership-2", Some(path)).is_err());
        assert!(write_new("Not an id", Some(folder.path().join("two.toml"))).is_err());
    }

    #[test]
    fn an_image_beside_the_file_is_embedded() {
        let folder = tempfile::tempdir().unwrap();
        let drawing = r#"<svg xmlns="http://www.w3.org/2000/svg"/>"#;
        fs::write(folder.path().join("logo.svg"), drawing).unwrap();
        let text = include_str!("new.toml").replace("ID", "one");
        let text = text.replace("[card]", "[card]\nlogo = { uri = \"logo.svg\" }");
        let path = folder.path().join("one.toml");
        fs::write(&path, text).unwrap();
        let logo = read(&path).unwrap().card.logo.unwrap();
        let encoded = encoding::base64_encode(drawing.as_bytes());
        assert_eq!(logo.uri, format!("data:image/svg+xml;base64,{encoded}"));
    }
}
