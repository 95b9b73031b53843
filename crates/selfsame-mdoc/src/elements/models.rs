//! The tables of known documents.

use super::ElementKind::{
    self, Bytes, Countries, Country, Day, DayOrTime, LongText, Nested, Number, Text,
};
use super::{DocumentModel, ElementModel, MDL_NAMESPACE, NamespaceModel};

const fn must(name: &'static str, kind: ElementKind) -> ElementModel {
    ElementModel {
        name,
        kind,
        mandatory: true,
    }
}

const fn may(name: &'static str, kind: ElementKind) -> ElementModel {
    ElementModel {
        name,
        kind,
        mandatory: false,
    }
}

/// The driving licence (ISO/IEC 18013-5 §7.2.1, Table 5).
pub static MDL: DocumentModel = DocumentModel {
    doc_type: "org.iso.18013.5.1.mDL",
    namespaces: &[NamespaceModel {
        name: MDL_NAMESPACE,
        elements: &[
            must("family_name", Text),
            must("given_name", Text),
            must("birth_date", Day),
            must("issue_date", DayOrTime),
            must("expiry_date", DayOrTime),
            must("issuing_country", Country),
            must("issuing_authority", Text),
            must("document_number", Text),
            must("portrait", Bytes),
            must("driving_privileges", Nested),
            must("un_distinguishing_sign", Text),
            may("administrative_number", Text),
            may("sex", Number),
            may("height", Number),
            may("weight", Number),
            may("eye_colour", Text),
            may("hair_colour", Text),
            may("birth_place", Text),
            may("resident_address", Text),
            may("portrait_capture_date", DayOrTime),
            may("age_in_years", Number),
            may("age_birth_year", Number),
            may("issuing_jurisdiction", Text),
            may("nationality", Country),
            may("resident_city", Text),
            may("resident_state", Text),
            may("resident_postal_code", Text),
            may("resident_country", Country),
            may("family_name_national_character", LongText),
            may("given_name_national_character", LongText),
            may("signature_usual_mark", Bytes),
        ],
    }],
};

/// Identification data of a person (EU PID rulebook §3.1).
pub static PID: DocumentModel = DocumentModel {
    doc_type: "eu.europa.ec.eudi.pid.1",
    namespaces: &[NamespaceModel {
        name: "eu.europa.ec.eudi.pid.1",
        elements: &[
            must("family_name", Text),
            must("given_name", Text),
            must("birth_date", Day),
            must("place_of_birth", Nested),
            must("nationality", Countries),
            must("expiry_date", DayOrTime),
            must("issuing_authority", Text),
            must("issuing_country", Country),
            may("resident_address", LongText),
            may("resident_country", Country),
            may("resident_state", Text),
            may("resident_city", Text),
            may("resident_postal_code", Text),
            may("resident_street", Text),
            may("resident_house_number", Text),
            may("personal_administrative_number", Text),
            may("portrait", Bytes),
            may("family_name_birth", Text),
            may("given_name_birth", Text),
            may("sex", Number),
            may("email_address", LongText),
            may("mobile_phone_number", Text),
            may("document_number", Text),
            may("issuing_jurisdiction", Text),
            may("issuance_date", DayOrTime),
            may("trust_anchor", LongText),
            may("attestation_legal_category", Text),
        ],
    }],
};

/// A record of immunizations, and what may be told of it without telling who it is about.
pub static IMMUNIZATION: DocumentModel = DocumentModel {
    doc_type: "org.micov.1",
    namespaces: &[
        NamespaceModel {
            name: "org.micov.vtr.1",
            elements: &[
                must("fn", Text),
                must("gn", Text),
                must("dob", Day),
                may("sex", Number),
                may("v_RA01_1", Nested),
                may("v_RA01_2", Nested),
                may("pid_PPN", Nested),
                may("pid_DL", Nested),
            ],
        },
        NamespaceModel {
            name: "org.micov.attestation.1",
            elements: &[
                may("1D47_vaccinated", Nested),
                may("RA01_vaccinated", Nested),
                may("RA01_test", Nested),
                may("safeEntry_Leisure", Nested),
                may("fac", Bytes),
                may("fni", Text),
                may("gni", Text),
                may("by", Number),
                may("bm", Number),
                may("bd", Number),
            ],
        },
    ],
};
