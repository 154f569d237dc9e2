//! Certificates: those in files, and those that a desk makes for itself.

use std::io;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData as _,
};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// What a server shows to prove who it is: its certificates, and the key of the first of them.
#[derive(Debug)]
pub struct TlsIdentity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

/// An authority that a desk makes for itself. Whoever has its certificate, as those have who were
/// invited, recognizes the desk by it.
#[derive(Debug)]
pub struct TlsAuthority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    #[error("the file with the certificates has none in PEM form")]
    NoCertificate,
    #[error("the file with the key has none in PEM form (PKCS#8, SEC1 or PKCS#1)")]
    NoKey,
    #[error("the certificate and the key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
    #[error("the certificate cannot be made: {0}")]
    Unmade(#[from] rcgen::Error),
    #[error(transparent)]
    Unread(#[from] io::Error),
}

impl TlsIdentity {
    /// Reads certificates and their key from the contents of PEM files.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Result<Vec<_>, pem::Error> =
            CertificateDer::pem_slice_iter(certificates).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or(TlsError::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey)?;
        Ok(Self { chain, key })
    }
}

impl TlsAuthority {
    pub fn generate() -> Result<Self, TlsError> {
        let key = KeyPair::generate()?;
        let certificate = authority_params(&key).self_signed(&key)?.der().clone();
        Ok(Self { issuer: Issuer::new(authority_params(&key), key), certificate })
    }

    /// Makes the authority of a key and a certificate that were stored.
    pub fn from_stored(key: &[u8], certificate: &[u8]) -> Result<Self, TlsError> {
        let key = KeyPair::try_from(key)?;
        // The name of the authority follows from its key, so it needs no parsing of the
        // certificate.
        let issuer = Issuer::new(authority_params(&key), key);
        Ok(Self { issuer, certificate: certificate.to_vec().into() })
    }

    /// Returns the key, which nobody else may have, as PKCS#8.
    pub fn key(&self) -> &[u8] {
        self.issuer.key().serialized_der()
    }

    /// Returns the certificate, by which others recognize what this authority has signed, as DER.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// Makes a certificate for a server with these names and addresses.
    pub fn issue(&self, names: Vec<String>) -> Result<TlsIdentity, TlsError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name = common_name("callgate desk");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        // The default lasts for centuries; browsers accept no more than a year or so.
        let now = std::time::SystemTime::now();
        let day = std::time::Duration::from_hours(24);
        (params.not_before, params.not_after) = ((now - day).into(), (now + 365 * day).into());
        let certificate = params.signed_by(&key, &self.issuer)?.der().clone();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        Ok(TlsIdentity { chain: vec![certificate, self.certificate.clone()], key: key.into() })
    }
}

fn authority_params(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    // Two authorities have two names, so that neither is taken for the other.
    let public = key.subject_public_key_info();
    let mark = public.last_chunk().map_or(0, |last| u32::from_be_bytes(*last));
    params.distinguished_name = common_name(&format!("callgate authority {mark:08x}"));
    // It vouches for servers, and for no other authority.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

fn common_name(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}
