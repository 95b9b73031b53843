//! Keys whose modulus is not 2,050 bits long: both sides use a shorter one, and ours refuses a longer one.

use std::collections::BTreeMap;

use dashu_int::{UBig, ops::BitTest as _};

use super::parties::{CredentialDefinition, Issuance, Side, random, write};
use super::presenting::{Shown, nonce, predicate, present, request, verifies};
use super::*;

/// Two safe primes of 1,024 bits, made by `openssl prime -generate -safe` for this test.
const SHORTER: [&str; 2] = [
    "\
     F3B82281231A97C7CA54A232B71EA7EB139CEC6B620B0CD2531E5FFA8D0CCD5D2F4FA33E492DFC8182ABB6A3BEB09B53\
     F3B9C90755B8B3DC1B7443A87BF74EFB33E5F3A99152514E30CC443CA353DAFA6109E961B0C06D326786B44C716561BE\
     71BC31E5590B0FB3D01AD75E346678CE1BC58DE62D639FA96FC1DC64C01DBC63",
    "\
     C120E4BABFEB3DDC9C42B70FB461435968B45F640DCC45B923EECE22923DA9E7DE3565B2DB27CBBF75C21A3C9F33A814\
     734C0E773339D25FF3F3E25CDD99F6B10B303129931D720502893EC6150CEEE153124223CEA620968149E9B396A6671B\
     FB35D0F9DE70DA363010D142F6EE38FB91934EF25E077F34C646E8B3B4C1436F",
];
/// Two safe primes of 1,536 bits, made by `openssl prime -generate -safe` for this test.
const LONGER: [&str; 2] = [
    "\
     F5DC5E2B10F294F818FAB4931EA4E40CBA392839A82E615823A677B935C0ABBEB530D4193DBE95BDF86BE095376BC69B\
     203CED53D7D9A6E89CED4FF65E648D1FBD2E75DDB02C4BB612A8AA29843B86F28FA1F2A08DA93AF14AF1C2C9871ED02D\
     425EB9BA39D72EBBC30CE6117EA1C8262F159AB1A5E616DF8CA186FC3F198770DEA0F8B673B92E6C7A3093F1FC1328A2\
     3738BC570FC70B262613E0727EC52488297B0637A97C72679A83A426CE373B7B3D7F098B9D8BC53FF5B1B86A9C1794C7",
    "\
     ECF033E8562D9D434BE898BB4E39BDF3FEA6E5D103D0C8693697A7062FC308DF50DFF51349210B2727A896B1701A3BA0\
     183F20F3EB8D184DEBADF810A5DEFFBC986506208E7B9D69F715EDA97EB9B78E9B03792B1284C883A82B1D1F985D61C4\
     BD5375C207B0E3B8B146B13448044B67B1B0FBF0DC17C731145C0FC5D2901AE743D3D9D82E36A398497A7D1B3B3E0BFC\
     7488558E59A9AEF04351718362DB39543A3B01F9B0D67EDF743D8D0E7D5E9C720CB0196DCCCFC52B935B9C36762F5667",
];

#[test]
fn keys_of_other_lengths_are_used_by_both_sides_like_any() {
    crosses(&primes(SHORTER), 2_048);
}

#[test]
fn a_longer_modulus_than_the_blinding_covers_is_refused() {
    let attributes = ["age", "name"].map(str::to_owned).into();
    let made = generate(&attributes, &primes(LONGER), &mut random("longer")).unwrap();
    let refused = CredentialKey::new(&made.public).err().unwrap().to_string();
    assert!(refused.contains("the modulus in bits"), "{refused}");
}

fn primes(factors: [&str; 2]) -> SafePrimes {
    let [p, q] = factors.map(|digits| UBig::from_str_radix(digits, 16).unwrap());
    SafePrimes { p, q }
}

/// Each issuer issues a credential, each holder presents it, and both verifiers accept it.
fn crosses(primes: &SafePrimes, bits: usize) {
    let label = format!("a modulus of {bits} bits");
    let attributes = ["age", "name"].map(str::to_owned).into();
    let made = generate(&attributes, primes, &mut random(&label)).unwrap();
    assert_eq!(made.public.n.bit_len(), bits);
    let definition = CredentialDefinition {
        primary: write(&made.public),
        private: write(&made.private),
        correctness: write(&made.proof),
    };
    let values = [("age", "28"), ("name", "98765432109876543210")];
    let values: BTreeMap<String, String> = values
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    for (issuer, holder) in [(Side::Ours, Side::Theirs), (Side::Theirs, Side::Ours)] {
        let mut issuance = Issuance::new("1234567890", &values, &label);
        issuance.request(holder, &definition).unwrap();
        issuance.issue(issuer, &definition).unwrap();
        issuance.process(holder, &definition).unwrap();
        let shown = [Shown {
            definition: &definition,
            issuance: &issuance,
            request: request(&["name"], &[predicate("age", PredicateType::AtLeast, 18)]),
        }];
        let (right, wrong) = (nonce(&label), nonce("another"));
        let proof = present(holder, &shown, &right).unwrap();
        for verifier in [Side::Ours, Side::Theirs] {
            assert!(verifies(verifier, &shown, &proof, &right), "{label}");
        }
        assert!(!verifies(Side::Ours, &shown, &proof, &wrong), "{label}");
    }
}
