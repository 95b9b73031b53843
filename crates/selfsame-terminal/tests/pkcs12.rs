//! PKCS#12 files as OpenSSL writes them.

use std::path::Path;
use std::process::Command;

use selfsame_crypto::SecretString;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::pkcs12::{PemPair, is_pkcs12, read};

/// What each file here is opened with.
const PASSWORD: &str = "naïve ключ";

/// Runs OpenSSL in a folder; the arguments are separated by spaces.
fn openssl(folder: &Path, arguments: &str) -> Vec<u8> {
    let mut command = Command::new("openssl");
    command.args(arguments.split(' ')).current_dir(folder);
    let done = command.env("PASSWORD", PASSWORD).output().unwrap();
    assert!(
        done.status.success(),
        "openssl {arguments}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    done.stdout
}

/// A folder with a root, an intermediate authority and a leaf: `root.pem`, `middle.pem`, `leaf.pem`, `leaf.key`.
fn authority(kind: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let key = match kind {
        "ed25519" => "genpkey -algorithm ed25519",
        _ => "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
    };
    for name in ["root", "middle", "leaf"] {
        openssl(at, &format!("{key} -out {name}.key"));
    }
    std::fs::write(at.join("ca.cnf"), "basicConstraints=critical,CA:true\n").unwrap();
    std::fs::write(at.join("leaf.cnf"), "subjectAltName=DNS:localhost\n").unwrap();
    openssl(
        at,
        "req -x509 -new -key root.key -subj /CN=Root -days 9 -out root.pem",
    );
    for (name, by, extensions) in [("middle", "root", "ca"), ("leaf", "middle", "leaf")] {
        openssl(
            at,
            &format!("req -new -key {name}.key -subj /CN={name} -out {name}.csr"),
        );
        openssl(
            at,
            &format!(
                "x509 -req -in {name}.csr -CA {by}.pem -CAkey {by}.key -CAcreateserial -days 9 -extfile {extensions}.cnf -out {name}.pem"
            ),
        );
    }
    let chain =
        ["root", "middle"].map(|name| std::fs::read(at.join(format!("{name}.pem"))).unwrap());
    std::fs::write(at.join("authorities.pem"), chain.concat()).unwrap();
    folder
}

/// Exports the leaf with these further arguments, and reads the result.
fn exported(folder: &Path, further: &str) -> Result<PemPair, Failure> {
    let export = format!(
        "pkcs12 -export -inkey leaf.key -in leaf.pem -passout env:PASSWORD -out it.p12{further}"
    );
    openssl(folder, &export);
    let bytes = std::fs::read(folder.join("it.p12")).unwrap();
    assert!(is_pkcs12(&bytes));
    read("it.p12", &bytes, &SecretString::from(PASSWORD))
}

/// The DER of each block of a PEM text, by OpenSSL.
fn der(folder: &Path, text: &str, form: &str) -> Vec<u8> {
    std::fs::write(folder.join("one.pem"), text).unwrap();
    openssl(folder, &format!("{form} -in one.pem -outform DER"))
}

#[test]
#[ignore = "needs OpenSSL: cargo xtask test runs it"]
fn a_file_of_openssl_gives_the_key_and_the_chain_without_the_root() {
    for kind in ["p256", "ed25519"] {
        let folder = authority(kind);
        let at = folder.path();
        for further in [
            " -certfile authorities.pem",
            " -certfile authorities.pem -name issuer -iter 10000",
            " -certfile authorities.pem -macalg sha512 -keypbe aes-128-cbc -certpbe aes-256-cbc",
            " -certfile authorities.pem -certpbe NONE",
        ] {
            let pair = exported(at, further).unwrap();
            let blocks: Vec<_> = pair
                .chain
                .split_inclusive("-----END CERTIFICATE-----\n")
                .collect();
            assert_eq!(blocks.len(), 2, "{kind}{further}");
            for (block, name) in blocks.into_iter().zip(["leaf", "middle"]) {
                let whole = std::fs::read_to_string(at.join(format!("{name}.pem"))).unwrap();
                assert_eq!(der(at, block, "x509"), der(at, &whole, "x509"), "{name}");
            }
            let key = std::fs::read_to_string(at.join("leaf.key")).unwrap();
            assert_eq!(der(at, pair.key.expose(), "pkey"), der(at, &key, "pkey"));
        }
        let alone = exported(at, "").unwrap();
        assert_eq!(alone.chain.matches("BEGIN CERTIFICATE").count(), 1);
    }
}

#[test]
#[ignore = "needs OpenSSL: cargo xtask test runs it"]
fn a_file_that_is_weak_unauthenticated_or_incomplete_is_refused() {
    let folder = authority("p256");
    let at = folder.path();
    for further in [
        " -legacy",
        " -keypbe PBE-SHA1-3DES",
        " -certpbe PBE-SHA1-3DES",
    ] {
        let refused = exported(at, further).err().unwrap();
        assert_eq!(refused.code(), 2);
        assert!(refused.message().contains("weak"), "{further}: {refused:?}");
        let hint = refused.what_to_do().unwrap();
        assert!(hint.contains("openssl pkcs12 -legacy"), "{hint}");
    }
    for (further, why) in [
        (" -nomac", "without a MAC"),
        (" -nokeys", "0 private keys"),
        (" -nocerts", "certificate of its key"),
    ] {
        let refused = exported(at, further).err().unwrap();
        assert!(refused.message().contains(why), "{further}: {refused:?}");
    }
    exported(at, "").ok().unwrap();
    let bytes = std::fs::read(at.join("it.p12")).unwrap();
    for password in ["", "other"] {
        let refused = read("it.p12", &bytes, &SecretString::from(password));
        let refused = refused.err().unwrap();
        assert!(refused.message().contains("password"), "{refused:?}");
    }
    // No changed byte is too much for the reader, and no end can be missing.
    for place in (0..bytes.len()).step_by(37) {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        let _ = read("it.p12", &changed, &SecretString::from(PASSWORD));
        assert!(read("it.p12", &bytes[..place], &SecretString::from(PASSWORD)).is_err());
    }
}
