//! The processors that Selfsame is built for, and the parts of Debian that compile and run programs for those of ARM.

use std::env::consts::ARCH;
use std::process::Command;

/// A kind of processor.
pub struct Processor {
    pub name: &'static str,
    /// Rust's name of it.
    rust: &'static str,
    /// Its number in the header of a program (ELF, `e_machine`).
    elf: u16,
    /// Debian's name of it.
    pub debian: &'static str,
    /// The name of it in container images, which is that of Go.
    pub container: &'static str,
    /// What compiles and runs programs for it on another one.
    pub cross: Option<Cross>,
}

/// What compiles and runs programs for a processor on another one.
pub struct Cross {
    /// Rust's name of processor and system.
    pub target: &'static str,
    /// What the names of the compiler's programs begin with.
    pub tools: &'static str,
    /// The folder of the C library.
    pub libraries: &'static str,
    pub emulator: &'static str,
    /// The packages that have these, the emulator aside.
    pub packages: &'static [&'static str],
}

pub const PROCESSORS: &[Processor] = &[
    Processor {
        name: "x86_64",
        rust: "x86_64",
        elf: 0x3e,
        debian: "amd64",
        container: "amd64",
        cross: None,
    },
    Processor {
        name: "aarch64",
        rust: "aarch64",
        elf: 0xb7,
        debian: "arm64",
        container: "arm64",
        cross: Some(Cross {
            target: "aarch64-unknown-linux-gnu",
            tools: "aarch64-linux-gnu",
            libraries: "/usr/aarch64-linux-gnu",
            emulator: "qemu-aarch64",
            packages: &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
        }),
    },
    Processor {
        name: "armv7",
        rust: "arm",
        elf: 0x28,
        debian: "armhf",
        container: "arm",
        cross: Some(Cross {
            target: "armv7-unknown-linux-gnueabihf",
            tools: "arm-linux-gnueabihf",
            libraries: "/usr/arm-linux-gnueabihf",
            emulator: "qemu-arm",
            packages: &["gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross"],
        }),
    },
];

impl Processor {
    /// The processor that a program is for.
    pub fn of(program: &[u8]) -> Result<&'static Self, String> {
        let elf = match program {
            // All of them have the lower byte first.
            [0x7f, b'E', b'L', b'F', _, 1, ..] => program.get(18..20),
            _ => None,
        };
        let number = elf
            .and_then(|elf| elf.try_into().ok())
            .map(u16::from_le_bytes);
        PROCESSORS
            .iter()
            .find(|processor| Some(processor.elf) == number)
            .ok_or_else(|| "this is not a program for x86_64, aarch64 or armv7".to_owned())
    }

    /// What runs its programs on this machine; `None` if they run by themselves.
    pub fn foreign(&self) -> Option<&Cross> {
        self.cross.as_ref().filter(|_| self.rust != ARCH)
    }

    /// A tool that understands its programs.
    pub fn tool(&self, name: &str) -> String {
        match self.foreign() {
            Some(cross) => format!("{}-{name}", cross.tools),
            None => name.to_owned(),
        }
    }

    /// The words that start a program for it on this machine.
    pub fn starting<'a>(&'a self, program: &'a str) -> Vec<&'a str> {
        match self.foreign() {
            Some(cross) => vec![cross.emulator, "-L", cross.libraries, program],
            None => vec![program],
        }
    }
}

impl Cross {
    pub fn compiler(&self) -> String {
        format!("{}-gcc", self.tools)
    }

    /// Tells cargo how to compile, link and run for it.
    pub fn name_to(&self, cargo: &mut Command) {
        let in_capitals = self.target.to_uppercase().replace('-', "_");
        let runner = format!("{} -L {}", self.emulator, self.libraries);
        cargo
            .args(["--target", self.target])
            .env(
                format!("CC_{}", self.target.replace('-', "_")),
                self.compiler(),
            )
            .env(
                format!("CARGO_TARGET_{in_capitals}_LINKER"),
                self.compiler(),
            )
            .env(format!("CARGO_TARGET_{in_capitals}_RUNNER"), runner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_a_program_tells_its_processor() {
        let header = |machine: u8| {
            let mut header = b"\x7fELF\x02\x01\x01".to_vec();
            header.resize(18, 0);
            header.extend([machine, 0, 1, 0]);
            header
        };
        let named = |machine: u8| Processor::of(&header(machine)).map(|one| one.debian);
        assert_eq!(named(0x3e), Ok("amd64"));
        assert_eq!(named(0xb7), Ok("arm64"));
        assert_eq!(named(0x28), Ok("armhf"));
        assert!(named(0x08).is_err());
        assert!(Processor::of(b"#!/bin/sh\n").is_err());
        assert!(Processor::of(&header(0x3e)[..18]).is_err());
    }

    #[test]
    fn this_test_runs_by_itself() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let processor = Processor::of(&own).unwrap();
        assert!(processor.foreign().is_none());
        assert_eq!(processor.starting("selfsame"), ["selfsame"]);
        assert_eq!(processor.tool("strip"), "strip");
    }
}
