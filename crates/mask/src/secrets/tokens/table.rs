//! The table of tokens, by their first byte, and longer prefixes before shorter ones. A pattern
//! lists its prefixes with blanks between them, and all of them begin with the same byte.

use super::TokenBody::{Alnum, Dotted, Hex, Path, Upper, Url};
use super::{TokenBody, TokenPattern};

pub(in crate::secrets) const TOKENS: [TokenPattern; 88] = [
    token_pattern("1//0", "Google token", Url, 40),
    token_pattern("AGE-SECRET-KEY-1", "age key", Upper, 40),
    token_pattern("AGE-PLUGIN-", "age key", Path, 60),
    token_pattern("ATATT3 ATCTT3", "Atlassian token", Path, 40),
    token_pattern("ABIA ACCA AKIA ASIA", "AWS key", Upper, 16).exactly(16).strict(),
    token_pattern("ABSK", "AWS key", Path, 80),
    token_pattern("AIza", "Google key", Url, 35),
    token_pattern("AKCp", "Artifactory key", Alnum, 60).strict(),
    token_pattern("AQVN", "Yandex key", Url, 34).strict(),
    token_pattern("ATBB", "Bitbucket token", Alnum, 28).strict(),
    token_pattern("CCIPAT_", "CircleCI token", Url, 40),
    token_pattern("CFPAT-", "Contentful token", Url, 40),
    token_pattern("EAAA", "Square token", Url, 56).strict(),
    token_pattern("EAAC", "Facebook token", Alnum, 60).strict(),
    token_pattern("EZAK", "EasyPost key", Alnum, 54).strict(),
    token_pattern("GOCSPX-", "Google client secret", Url, 20),
    token_pattern("HRKU-", "Heroku key", Url, 30),
    token_pattern("NRAK-", "New Relic key", Upper, 20),
    token_pattern("PMAK-", "Postman key", Url, 40),
    token_pattern("SG.", "SendGrid key", Dotted, 40).strict(),
    token_pattern("SK", "Twilio key", Hex, 32).exactly(32).strict(),
    token_pattern("api_org_", "Hugging Face token", Alnum, 30),
    token_pattern("bedrock-api-key-", "AWS key", Path, 40),
    token_pattern("bkua_", "Buildkite token", Hex, 40),
    token_pattern(
        "discordapp.com/api/webhooks/ discord.com/api/webhooks/",
        "Discord webhook",
        Path,
        30,
    )
    .after_address(),
    token_pattern("dckr_oat_ dckr_pat_", "Docker token", Url, 20),
    token_pattern("doo_v1_ dop_v1_ dor_v1_", "DigitalOcean token", Hex, 40),
    token_pattern("dp.pt.", "Doppler token", Alnum, 40),
    token_pattern("dp.st.", "Doppler token", Dotted, 40),
    token_pattern("dapi", "Databricks token", Hex, 32).strict(),
    token_pattern("figd_", "Figma token", Url, 30),
    token_pattern("fm2_", "Fly token", Path, 40),
    token_pattern("fo1_", "Fly token", Url, 40),
    token_pattern("github_pat_", "GitHub token", Url, 22),
    token_pattern(
        "glagent- glsoat- glcbt- glimt- gloas- glptt- gldt- glft-",
        "GitLab token",
        Url,
        16,
    ),
    token_pattern("glpat- glrt-", "GitLab token", Dotted, 16),
    token_pattern("glsa_", "Grafana token", Url, 20),
    token_pattern("gho_ ghp_ ghr_ ghu_", "GitHub token", Alnum, 20),
    token_pattern("ghs_", "GitHub token", Dotted, 20),
    token_pattern("glc_", "Grafana token", Path, 20).strict(),
    token_pattern("gsk_", "Groq key", Alnum, 30),
    token_pattern(
        "hooks.slack.com/workflows/ hooks.slack.com/services/ hooks.slack.com/triggers/",
        "Slack webhook",
        Path,
        20,
    )
    .after_address(),
    token_pattern("hvb. hvr. hvs.", "Vault token", Url, 20),
    token_pattern("hf_", "Hugging Face token", Alnum, 30),
    token_pattern("key-", "Mailgun key", Hex, 32).exactly(32).strict(),
    token_pattern("lin_api_", "Linear key", Alnum, 30),
    token_pattern("lsv2_pt_ lsv2_sk_", "LangSmith key", Url, 40),
    token_pattern("nsec1", "Nostr key", Alnum, 58).strict(),
    token_pattern("nfp_", "Netlify token", Alnum, 30),
    token_pattern("npm_", "npm token", Alnum, 30),
    token_pattern("ntn_", "Notion token", Alnum, 40),
    token_pattern("ops_eyJ", "1Password token", Path, 80),
    token_pattern("oy2", "NuGet key", Alnum, 43).exactly(43).strict(),
    token_pattern("pscale_tkn_", "PlanetScale token", Dotted, 30),
    token_pattern("pscale_pw_", "PlanetScale password", Dotted, 30),
    token_pattern("pplx-", "Perplexity key", Alnum, 40),
    token_pattern("pypi-", "PyPI token", Url, 40).strict(),
    token_pattern("pnu_", "Prefect key", Alnum, 36),
    token_pattern("pul-", "Pulumi token", Hex, 40).strict(),
    token_pattern("rubygems_", "RubyGems key", Hex, 40),
    token_pattern("rk_live_ rk_test_", "Stripe key", Alnum, 16),
    token_pattern("r8_", "Replicate token", Alnum, 36).strict(),
    token_pattern("sk-svcacct- sk-admin- sk-proj-", "OpenAI key", Url, 20),
    token_pattern("sb_secret_", "Supabase token", Url, 20),
    token_pattern("sk-or-v1-", "OpenRouter key", Url, 20),
    token_pattern("sk_live_ sk_test_", "Stripe key", Alnum, 16),
    token_pattern("secret_", "Notion token", Alnum, 40).strict(),
    token_pattern("sk-ant-", "Anthropic key", Url, 16),
    token_pattern("sntrys_", "Sentry token", Path, 40),
    token_pattern("sntryu_", "Sentry token", Hex, 40),
    token_pattern("sq0atp-", "Square token", Url, 22),
    token_pattern("sq0csp-", "Square token", Url, 40),
    token_pattern("shpat_ shpca_ shppa_ shpss_", "Shopify token", Alnum, 32),
    token_pattern("sk-lf-", "Langfuse key", Url, 20),
    token_pattern("sbp_", "Supabase token", Hex, 40),
    token_pattern("sk-", "OpenAI key", Url, 20).strict(),
    token_pattern("sk_", "ElevenLabs key", Hex, 40).strict(),
    token_pattern("sl.", "Dropbox token", Url, 100).strict(),
    token_pattern("tskey-", "Tailscale key", Url, 20),
    token_pattern("tvly-", "Tavily key", Url, 24),
    token_pattern("tfp_", "Typeform token", Dotted, 40),
    token_pattern("webhook.office.com/webhookb2/", "Teams webhook", Path, 30).after_address(),
    token_pattern("whsec_", "webhook secret", Path, 16),
    token_pattern("waka_", "WakaTime key", Url, 30),
    token_pattern(
        "xapp- xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs-",
        "Slack token",
        Path,
        10,
    ),
    token_pattern("xai-", "xAI key", Alnum, 40),
    token_pattern("ya29.", "Google token", Dotted, 20),
    token_pattern("y0_", "Yandex token", Url, 50).strict(),
];

const fn token_pattern(
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
pub(super) static INDEX: [u8; 257] = build_index();

const fn build_index() -> [u8; 257] {
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
pub(super) static PAIRS: [u64; 1024] = build_pairs();

const fn build_pairs() -> [u64; 1024] {
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
