//! Made-up secrets for the tests of the whole project: none of them may be found in any message,
//! log or file.
//!
//! They are put together from pieces, so that no scanner takes this file for a leak.

use memchr::memmem;

/// A made-up secret.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    pub name: &'static str,
    /// The secret with what makes it one: `ghp_…`, `https://user:…@host`.
    pub text: &'static str,
    /// The part of it that nobody may see.
    pub random: &'static str,
    /// Whether it is recognised as a secret anywhere, or only after a name.
    pub is_known_alone: bool,
}

/// Returns the first sample of which eight bytes in a row of the random part are in `bytes`.
pub fn leak_in(bytes: &[u8]) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| {
        sample.random.as_bytes().windows(8).any(|window| memmem::find(bytes, window).is_some())
    })
}

macro_rules! samples {
    ($($known:literal $name:literal: $($before:literal)* [$($random:literal)*] $($after:literal)*;)*) => {
        pub static SAMPLES: &[Sample] = &[$(Sample {
            name: $name,
            text: concat!($($before,)* $($random,)* $($after,)*),
            random: concat!($($random,)*),
            is_known_alone: $known,
        },)*];
    };
}

samples! {
    true "Anthropic": "sk-" "ant-" "api03-"
        ["coO38Eu2E1sp8mmwlO9irrQfWFrGjIUnA23PAKkQWF0oNemVaEORxEfzuZNo" "iXXk5KbrchVHcFo68cDh"];
    true "OpenAI": "sk" "-" ["Umpp964rywgK8iCYdK2UHsRamvfRRkMd6xIuIuGglY3unvYT"];
    true "OpenAI project": "sk-" "proj-"
        ["fmBx2akWwMHOFydgYJ1olpshawKHaogxLrHt4lT4AmDupb2tpCRZM29dpOqC" "HJEK"];
    true "GitHub p": "gh" "p" "_" ["mtJsYPRrg1IytEmXcEcOgHEr2NrXf3rgTkvl"];
    true "GitHub o": "gh" "o" "_" ["dGabrO0ttM4NcXLxKTrjn6ZCEdngeCQVo4Ar"];
    true "GitHub u": "gh" "u" "_" ["9S9Q793DItXEFLq7vl41p5JxNBT5S9VETuV5"];
    true "GitHub s": "gh" "s" "_" ["WyQrZhpqr2IW32p2G0tTa3E4Dk0GnXp6cYnX"];
    true "GitHub r": "gh" "r" "_" ["a14AqGTnVX1Cwpr2EptqquJErqr9B33ajZSd"];
    true "GitHub fine-grained": "github" "_pat_"
        ["msLwJrZHFvdGwklXUfQI1y_68RcL5Bs9TwBEOxdvCPpiGfmDcpzu30Nx5suv" "JMdoXGU1aoeJ2A2GnZYC2z"];
    true "GitLab": "gl" "pat-" ["AOLraw4CaBQsWcHjBiIP"];
    true "AWS id": "AK" "IA" ["DIBGYCNPPJTDPE7Z"];
    true "AWS session id": "AS" "IA" ["WXPRRZMWJ4LZQKEH"];
    true "Google key": "AI" "za" ["5OH9uFccf121MK7eiJqyCv776CtRXNhlFTz"];
    true "Google token": "ya" "29."
        ["wl4FTgPuzJZv0vFZhkU5HopwPo6CWesndG4xTj8N2Zps2Q0luiXIWvoFvcYW"];
    true "Google client": "GOC" "SPX-" ["xJhyEeNw7I1oqSPwUwzCgmHmkWPk"];
    true "Slack bot": "xo" "xb-" ["2048123456-x6et6dFeMvAaCkqmoO2F5bmr"];
    true "Slack user": "xo" "xp-" ["2048654321-Uxrz6Xqzj8U61tGf6fiAtjERGKN4gpAz"];
    true "Slack webhook": "https://hooks.slack" ".com/services/"
        ["T0KHJPGY5V/B0K7ENWELM/KS5yZoIADSrnLghO5MNqY1vU"];
    true "Stripe": "sk" "_live_" ["yd1VnQINscJGxAF2xmWXfFAz"];
    true "Stripe restricted": "rk" "_live_" ["O6IOfMeKkbvMnnJFFqtmeMj5"];
    true "Telegram": "7123" "456789:" ["AAO4P5UaXl23D2Vf4D43vFceVWICzfJJ5Nl"];
    true "Telegram address": "https://api.telegram.org/bot" "7987654321:"
        ["AAbDIj2WgRe3gSyjwNEgC6b1TCk2KitbWbG"] "/getMe";
    true "npm": "np" "m_" ["pNpitRhoebSfIRv8LkdAeGjW8SUrkQVxc0aa"];
    true "PyPI": "py" "pi-" ["AgEIcHlwaS5vcmcFtEG7BEZp1BLdBJXPAkoFjUix5rrRYszZlGDPDYvygkBD"
        "DcGFh0JqQ9tfqF2"];
    true "Hugging Face": "h" "f_" ["F2hAHkdYFsjdeXLlCIqVcTJQVMlUGcFE7O"];
    true "SendGrid": "S" "G." ["ZLfUq19pc8TXvkgo95s5kK.8G7da77IgoM3qPkW0tjkx4Gefg277PjP964zP"
        "0gDQZC"];
    true "Twilio": "S" "K" ["078f8d3df2a6a3e4739585dbe4a47eba"];
    true "DigitalOcean": "do" "p_v1_"
        ["3a294f670425495e8006938f2708b37c0e3dd786106c6d43b83a9af425ca" "aa3b"];
    true "Discord": "MT" "A5" ["wGpLseemHA4yvgOoQEKX.JVrqGD.ADR5QvoqY2KVaL3E4crL3UMHpstPISiJ"
        "U0vTET"];
    true "Azure client": "a1b" "8Q~" ["mvlIBX8F9QWoizwxTYWFpAjVlk3qsvOPrv"];
    true "Azure storage": "DefaultEndpointsProtocol=https;AccountName=acct;Account" "Key="
        ["pg1+H8DFX/WP5lvPUVU+QQ2SinEy1hbkVlUKncvl2i88Ly/QS6MLEx7U94iR"
        "RS164kfDTQg9nOEppsFSnhM2Qe"] "==";
    true "Azure bus": "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccess"
        "Key=" ["3EkdhfrFrnlDZVumujTaLkq8uBZk07GH0ryeJBcc9xw"] "=";
    true "JWT": "ey" "J" ["hbGciOiJIUzI1NiJ9.eyJQ58hjVY7ZWy3wwgKNmUOQxXOFXjdY4HVsOvhY7f"
        "0.W4lW6EctC2A1T3UqMWfLybNIEluoU3fmQYioVgwvPoh"];
    true "Vault": "hv" "s." ["Hd1mMM2qIXzED7OjSjYbx1qW"];
    true "Databricks": "da" "pi" ["e5135e600659f642558cadd410d46f0f"];
    true "Shopify": "sh" "pat_" ["6b26c0785f285541d7f67b04c0fd67be"];
    true "age": "AGE-SECRET" "-KEY-1"
        ["4O556R3AYAIV43FWFVLHBT6MHNWGVEMKS254KPR4YDDK7IUYBRRT55Y4G5"];
    true "Groq": "gs" "k_" ["4izZN2Fhw8j0HqnI1eEDq3WCwsWqdXjyBau82MohEMHzbwfxwD0n"];
    true "xAI": "xa" "i-" ["vXZcBkxjYZjuyZzjYjPHpg66aE3ZEpdxVQ2GKqJQrMg2Pzid1tKsgyYjwmFV"
        "kDMdtvxyDqxSLzgaRoeN"];
    true "Docker Hub": "dckr" "_pat_" ["DJSHPrFCz8Qjspl530pml8sc3Tp"];
    true "Mailchimp": ["993cc4ca152210804972f4740aed548f"] "-us12";
    true "Linear": "lin" "_api_" ["KkgNluZEnIdzjOtiTgqDO0tGbgKsa81PV8dXYnHw"];
    true "Atlassian": "ATA" "TT3" ["xFfGF0tSCl4vOAdFfI2Cuezdl9eEP1eqR3ruwnFmhdcy3HUWVUmR7LeRrERr"
        "vsjD7N"];
    true "Tailscale": "ts" "key-" ["auth-cUPRqewaPU5v-c3TFKIfXC6ls5HcOenWfGdzUO6eCCMiy"];
    true "address with password": "https://deploy" ":" ["qM4cD0hbUsV5krFYIiv3"]
        "@example.org/x.git";
    true "database address": "postgres://app" ":" ["nFgwLo94CUk7dsU4!dFThew"]
        "@db.example.org:5432/app";
    true "signed address": "https://s3.example.org/x?X-Amz-Expires=60&X-Amz-Signature" "="
        ["c18299943f76eb8a7c4797dfc4d64e0dabd6c7ce315ade7da253bb0cb68c" "1b2c"];
    true "query token": "https://example.org/?a=1&access_token" "="
        ["rOml5tNnu0GHnwAeTXcQigUDyhUE5DyE"] "&b=2";
    true "bearer header": "Authorization" ": Bearer " ["dWdDfAx6kELaZQlBxwcNRHtjDBx3XWo7DWtItRj2"];
    true "basic header": "Authorization" ": Basic " ["dXNlcjpwv7SGvTAiP3OiDHHpcGXUmYHQ"];
    true "cookie header": "Cookie" ": session=" ["rJtZAtyUlxxDFGNOcDiM8Jq8e7CE7gKk"];
    true "key header": "X-Api-Key" ": " ["kN3H5s2V7XtZ8sjS9CeVGE58P15LO2De"];
    true "RSA key": "-----BEGIN RSA PRIV" "ATE KEY-----\n"
        ["+wycuTBGH3fSWyoOPS6uVZCewoDx7wjYNwXw3pNPzxv4sqlY4fqYufg3qWhR"
        "PYIp\n4x51CVPoIcK07CrOOsratGxf/FLEdnwirTZiCWW23FVDxA9PhKIXTcJ"
        "YGcWjYmao\nh6JBzLcR7xMqkUtMR57pVA0D69EzEq2W7yg8eGI+PaJNX8RtNH"
        "0Pei5hv0o5Xpv7\nyjTecea2b4U+Cdh/GoMnqMtWguVP05QHmNKKsB8g8Pkoh"
        "mIOQChkoj2mHxSzbTvF\nF7ijQb0vLgi3gr/qQxTqcVrUHVIuHq+GDJoKDHcb"
        "dTCdwPh892EtI9m+6MSs3mL3\nukn0PrLh+AkwtS5Pzow3IFLym02hqw/2wfI"
        "RhuFPX48huyn5ioFFcn0GCGOtfoDm\nbHOm5IcTBe7Q5j0aZjDvdXwNF/iRTi" "X/CTzoyL7vs/"]
        "==\n-----END RSA PRIV" "ATE KEY-----";
    true "SSH key": "-----BEGIN OPENSSH PRIV" "ATE KEY-----\n"
        ["b3BlbnNzaC1rZXkksyvL6GiujnZTfxwEu7+gbGAFlYqyo9jXRFa/KTX5Q3iu"
        "YQgxf8qvDt\nb3BlbnNzaC1rZXkpgxUAjY0RmMgz89+rayKyttMlYH7NKmf/i"
        "UemDroUjbHgxbILuyJmcB\nb3BlbnNzaC1rZXkmhiPYU2i4Ez+sP6lhKANIPv"
        "GjYA7UMaQ1zlnZwmZaZt9ACjQ96rIeND\nb3BlbnNzaC1rZXkTBe2EnjAMSCI"
        "3IsZMVfK1M9h+b+w2fR6qTV7aAOPkERoAeHTC21YzNa\nKR3KfPW6rMsjfsAc" "jMfn"]
        "=\n-----END OPENSSH PRIV" "ATE KEY-----";
    false "password": ["bvfmXihrIVCCdZTJ2L"];
    false "password with signs": ["ljQubh!zHtju#KCF10@90G"];
    false "AWS secret": ["Ti5AHuvcNpSnVIIWLY8CI21fWsi4HwIZvBP9ji6q"];
    false "hexadecimal key": ["94c16ddb423418bb0784fa2336183bedf9345d77"];
    false "key in UUID form": ["9fa0b8b9-d60a-acb8-7910-d2d67422661f"];
}
