//! The paper's analytical model (section VIII-A): estimates of handshake times, from those of X.509 and of the
//! identities.

/// The time to process an identity message, in milliseconds, including its signature checks.
#[derive(Clone, Copy, Debug)]
pub struct Processing {
    /// T_C: a chain of certificates.
    pub certificate: f64,
    /// T_V + T_D: a credential, and the resolution of its subject.
    pub credential: f64,
    /// T_D: the resolution of a DID.
    pub did: f64,
}

/// The times of handshakes with X.509, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Original {
    /// H'_O: only the server authenticates.
    pub unilateral: f64,
    /// H''_O: both sides authenticate.
    pub mutual: f64,
}

/// The model's estimates for the other handshakes, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// H'_V, equation 1.
    pub credential: f64,
    /// H'_D, equation 2.
    pub did: f64,
    /// H''_V, equation 5.
    pub mutual_credential: f64,
    /// H''_D, equation 6.
    pub mutual_did: f64,
    /// H''_OV = H''_VO, equation 7.
    pub hybrid_credential: f64,
    /// H''_OD = H''_DO, equation 8.
    pub hybrid_did: f64,
}

impl Processing {
    /// Δ_V, equation 3.
    #[must_use]
    pub fn delta_credential(&self) -> f64 {
        self.credential - self.certificate
    }

    /// Δ_D, equation 4.
    #[must_use]
    pub fn delta_did(&self) -> f64 {
        self.did - self.certificate
    }
}

impl Original {
    /// Computes all estimates of the model.
    #[must_use]
    pub fn estimate(&self, processing: &Processing) -> Estimate {
        let (credential, did) = (processing.delta_credential(), processing.delta_did());
        Estimate {
            credential: self.unilateral + credential,
            did: self.unilateral + did,
            mutual_credential: self.mutual + 2.0 * credential,
            mutual_did: self.mutual + 2.0 * did,
            hybrid_credential: self.mutual + credential,
            hybrid_did: self.mutual + did,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_estimates_follow_from_its_tables() {
        // ECDSA: tables III and IV, whose columns VC and DID include the resolution.
        let processing = Processing {
            certificate: 9.0,
            credential: 48.0,
            did: 47.0,
        };
        let original = Original {
            unilateral: 43.0,
            mutual: 50.0,
        };
        let estimate = original.estimate(&processing);
        let measured = [
            (estimate.credential, 78.0),
            (estimate.did, 77.0),
            (estimate.mutual_credential, 124.0),
            (estimate.mutual_did, 122.0),
            (estimate.hybrid_credential, 87.0),
            (estimate.hybrid_did, 86.0),
        ];
        for (estimate, measured) in measured {
            let error = (estimate - measured).abs() / measured;
            assert!(error < 0.06, "{estimate} beside {measured}");
        }
    }
}
