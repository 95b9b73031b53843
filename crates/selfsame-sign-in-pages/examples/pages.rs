//! Writes every page of a sign-in with invented data, in every language, into a folder, for those who design or
//! translate them: `cargo run -p selfsame-sign-in-pages --example pages -- FOLDER`.

use std::path::PathBuf;
use std::{env, fs, io};

use selfsame_sign_in_pages::{PageFiles, PageLanguage, samples};

const STYLE: &str = include_str!("../../selfsame-pages/assets/app.css");

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).unwrap_or_else(|| "pages".into()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("app.css"), STYLE)?;
    let files = PageFiles {
        style: "app.css".to_owned(),
        ..PageFiles::default()
    };
    for language in PageLanguage::all() {
        for page in samples::all(language, &files) {
            let name = format!("{}-{}.html", page.name, language.tag());
            fs::write(folder.join(name), page.html)?;
        }
    }
    Ok(())
}
