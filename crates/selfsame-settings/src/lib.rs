//! The settings file: its sections for an instance and its registry, the files that it names, and what is wrong in it.
//!
//! Owns: `[instance]`, `[admin]`, `[pkcs11]` and `[registry]`, how files are read that settings name, the command
//! `selfsame config check` with its search for every wrong line, and the list of the settings that are read again. Does
//! not own: the sections of the roles and of the server, and an instance.

pub mod certified;
mod command;
mod document;
mod effect;
pub mod files;
mod instance;
mod pkcs11;
mod registry;
mod remedy;
mod set_names;

pub use command::ConfigCommand;
pub use instance::{AdminSettings, InstanceSettings, Role};
pub use pkcs11::Pkcs11Settings;
pub use registry::RegistrySettings;
pub use set_names::SetNames;
