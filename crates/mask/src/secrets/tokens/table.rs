//! The table of tokens, by their first byte, and longer prefixes before shorter ones. A pattern
//! lists its prefixes with blanks between them, and all of them begin with the same byte.

use super::TokenBody::{Alnum, Dotted, Hex, Path, Upper, Url};
use super::{TokenBody, TokenPattern};

/// All kinds of tokens.
pub(in crate::secrets) const TOKENS: [TokenPattern; 88] = [
    token("1//0", "Google token", Url, 40),
    token("AGE-SECRET-KEY-1", "age key", Upper, 40),
    token("AGE-PLUGIN-", "age key", Path, 60),
    token("ATATT3 ATCTT3", "Atlassian token", Path, 40),
    token("ABIA ACCA AKIA ASIA", "AWS key", Upper, 16).exactly(16).strict(),
    token("ABSK", "AWS key", Path, 80),
    token("AIza", "Google key", Url, 35),
    token("AKCp", "Artifactory key", Alnum, 60).strict(),
    token("AQVN", "Yandex key", Url, 34).strict(),
    token("ATBB", "Bitbucket token", Alnum, 28).strict(),
    token("CCIPAT_", "CircleCI token", Url, 40),
    token("CFPAT-", "Contentful token", Url, 40),
    token("EAAA", "Square token", Url, 56).strict(),
    token("EAAC", "Facebook token", Alnum, 60).strict(),
    token("EZAK", "EasyPost key", Alnum, 54).strict(),
    token("GOCSPX-", "Google client secret", Url, 20),
    token("HRKU-", "Heroku key", Url, 30),
    token("NRAK-", "New Relic key", Upper, 20),
    token("PMAK-", "Postman key", Url, 40),
    token("SG.", "SendGrid key", Dotted, 40).strict(),
    token("SK", "Twilio key", Hex, 32).exactly(32).strict(),
    token("api_org_", "Hugging Face token", Alnum, 30),
    token("bedrock-api-key-", "AWS key", Path, 40),
    token("bkua_", "Buildkite token", Hex, 40),
    token("discordapp.com/api/webhooks/ discord.com/api/webhooks/", "Discord webhook", Path, 30)
        .after_address(),
    token("dckr_oat_ dckr_pat_", "Docker token", Url, 20),
    token("doo_v1_ dop_v1_ dor_v1_", "DigitalOcean token", Hex, 40),
    token("dp.pt.", "Doppler token", Alnum, 40),
    token("dp.st.", "Doppler token", Dotted, 40),
    token("dapi", "Databricks token", Hex, 32).strict(),
    token("figd_", "Figma token", Url, 30),
    token("fm2_", "Fly token", Path, 40),
    token("fo1_", "Fly token", Url, 40),
    token("github_pat_", "GitHub token", Url, 22),
    token("glagent- glsoat- glcbt- glimt- gloas- glptt- gldt- glft-", "GitLab token", Url, 16),
    token("glpat- glrt-", "GitLab token", Dotted, 16),
    token("glsa_", "Grafana token", Url, 20),
    token("gho_ ghp_ ghr_ ghu_", "GitHub token", Alnum, 20),
    token("ghs_", "GitHub token", Dotted, 20),
    token("glc_", "Grafana token", Path, 20).strict(),
    token("gsk_", "Groq key", Alnum, 30),
    token(
        "hooks.slack.com/workflows/ hooks.slack.com/services/ hooks.slack.com/triggers/",
        "Slack webhook",
        Path,
        20,
    )
    .after_address(),
    token("hvb. hvr. hvs.", "Vault token", Url, 20),
    token("hf_", "Hugging Face token", Alnum, 30),
    token("key-", "Mailgun key", Hex, 32).exactly(32).strict(),
    token("lin_api_", "Linear key", Alnum, 30),
    token("lsv2_pt_ lsv2_sk_", "LangSmith key", Url, 40),
    token("nsec1", "Nostr key", Alnum, 58).strict(),
    token("nfp_", "Netlify token", Alnum, 30),
    token("npm_", "npm token", Alnum, 30),
    token("ntn_", "Notion token", Alnum, 40),
    token("ops_eyJ", "1Password token", Path, 80),
    token("oy2", "NuGet key", Alnum, 43).exactly(43).strict(),
    token("pscale_tkn_", "PlanetScale token", Dotted, 30),
    token("pscale_pw_", "PlanetScale password", Dotted, 30),
    token("pplx-", "Perplexity key", Alnum, 40),
    token("pypi-", "PyPI token", Url, 40).strict(),
    token("pnu_", "Prefect key", Alnum, 36),
    token("pul-", "Pulumi token", Hex, 40).strict(),
    token("rubygems_", "RubyGems key", Hex, 40),
    token("rk_live_ rk_test_", "Stripe key", Alnum, 16),
    token("r8_", "Replicate token", Alnum, 36).strict(),
    token("sk-svcacct- sk-admin- sk-proj-", "OpenAI key", Url, 20),
    token("sb_secret_", "Supabase token", Url, 20),
    token("sk-or-v1-", "OpenRouter key", Url, 20),
    token("sk_live_ sk_test_", "Stripe key", Alnum, 16),
    token("secret_", "Notion token", Alnum, 40).strict(),
    token("sk-ant-", "Anthropic key", Url, 16),
    token("sntrys_", "Sentry token", Path, 40),
    token("sntryu_", "Sentry token", Hex, 40),
    token("sq0atp-", "Square token", Url, 22),
    token("sq0csp-", "Square token", Url, 40),
    token("shpat_ shpca_ shppa_ shpss_", "Shopify token", Alnum, 32),
    token("sk-lf-", "Langfuse key", Url, 20),
    token("sbp_", "Supabase token", Hex, 40),
    token("sk-", "OpenAI key", Url, 20).strict(),
    token("sk_", "ElevenLabs key", Hex, 40).strict(),
    token("sl.", "Dropbox token", Url, 100).strict(),
    token("tskey-", "Tailscale key", Url, 20),
    token("tvly-", "Tavily key", Url, 24),
    token("tfp_", "Typeform token", Dotted, 40),
    token("webhook.office.com/webhookb2/", "Teams webhook", Path, 30).after_address(),
    token("whsec_", "webhook secret", Path, 16),
    token("waka_", "WakaTime key", Url, 30),
    token(
        "xapp- xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs-",
        "Slack token",
        Path,
        10,
    ),
    token("xai-", "xAI key", Alnum, 40),
    token("ya29.", "Google token", Dotted, 20),
    token("y0_", "Yandex token", Url, 50).strict(),
];

const fn token(
    prefixes: &'static str,
    label: &'static str,
    body: TokenBody,
    least: usize,
) -> TokenPattern {
    let most = usize::MAX;
    TokenPattern { prefixes, label, body, least, most, is_strict: false, keeps_prefix: false }
}

impl TokenPattern {
    const fn exactly(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    const fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    const fn after_address(mut self) -> Self {
        self.keeps_prefix = true;
        self
    }
}

/// Where in the table the tokens with each first byte begin.
pub(super) static INDEX: [u8; 257] = index();

const fn index() -> [u8; 257] {
    let mut index = [0; 257];
    let mut byte = 0;
    let mut at = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the table is shorter than 256")]
        let place = at as u8;
        index[byte] = place;
        while at < TOKENS.len() && TOKENS[at].prefixes.as_bytes()[0] as usize == byte {
            at += 1;
        }
        byte += 1;
    }
    assert!(at == TOKENS.len() && at < 256, "the table is in the order of the first bytes");
    #[expect(clippy::cast_possible_truncation, reason = "just asserted")]
    let end = at as u8;
    index[256] = end;
    index
}

/// One bit for each pair of bytes with which a token may begin.
pub(super) static PAIRS: [u64; 1024] = pairs();

const fn pairs() -> [u64; 1024] {
    let mut pairs = [0; 1024];
    let mut token = 0;
    while token < TOKENS.len() {
        let bytes = TOKENS[token].prefixes.as_bytes();
        let mut at = 0;
        while at + 1 < bytes.len() {
            if at == 0 || bytes[at - 1] == b' ' {
                let pair = (bytes[at] as usize) << 8 | bytes[at + 1] as usize;
                pairs[pair >> 6] |= 1 << (pair & 63);
            }
            at += 1;
        }
        token += 1;
    }
    pairs
}
