//! Where people and programs keep secrets that have no form of their own.

/// Texts in which `{}` is a secret that only its surroundings give away, and what kind that is.
pub(crate) const SURROUNDED: [(&str, &str); 112] = [
    ("environment file", "APP_NAME=shop\nDB_PASSWORD={}\nPORT=80"),
    ("shell export", "export STRIPE_API_KEY={}"),
    ("fish variable", "set -gx GITHUB_TOKEN {}"),
    ("PowerShell variable", "$env:AZURE_CLIENT_SECRET = '{}'"),
    ("Windows variable", "set MY_SECRET={}\r\nrun.exe"),
    ("setx", "setx OPENAI_API_KEY \"{}\""),
    (
        "docker -e",
        "docker run -e POSTGRES_PASSWORD={} -p 5432:5432 postgres",
    ),
    ("Dockerfile ENV", "ENV API_TOKEN {}\nRUN make"),
    (
        "docker login",
        "docker login -u me -p {} registry.example.org",
    ),
    (
        "docker config",
        "{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"{}\"}}}",
    ),
    (
        "kubectl literal",
        "kubectl create secret generic db --from-literal=password={}",
    ),
    (
        "Kubernetes secret",
        "kind: Secret\nmetadata:\n  name: db\ndata:\n  username: YWRtaW4=\n  value: {}",
    ),
    (
        "Kubernetes stringData",
        "kind: Secret\nstringData:\n  conn: {}\n",
    ),
    (
        "kubeconfig token",
        "users:\n- name: me\n  user:\n    token: {}",
    ),
    ("kubeconfig key", "    client-key-data: {}"),
    (
        "helm set",
        "helm upgrade app ./chart --set db.password={},replicas=2",
    ),
    ("mysql -p", "mysql -u root -p{} shop"),
    (
        "mysqldump -p",
        "mysqldump --single-transaction -uroot -p{} shop > dump.sql",
    ),
    ("redis-cli -a", "redis-cli -h cache -a {} PING"),
    ("curl -u", "curl -u admin:{} https://example.org/x"),
    (
        "curl --oauth2-bearer",
        "curl --oauth2-bearer {} https://example.org",
    ),
    ("curl joined -u", "curl -uadmin:{} https://example.org"),
    ("wget", "wget --user=me --password={} https://example.org/f"),
    ("httpie auth", "http -a admin:{} GET example.org"),
    ("sshpass", "sshpass -p {} ssh host"),
    ("sshpass joined", "sshpass -p{} ssh host"),
    (
        "openssl passin",
        "openssl rsa -in key.pem -passin pass:{} -out out.pem",
    ),
    ("openssl -k", "openssl enc -aes-256-cbc -k {} -in a -out b"),
    ("gpg passphrase", "gpg --batch --passphrase {} -d file.gpg"),
    ("7z -p", "7z x backup.7z -p{}"),
    ("zip -P", "zip -P {} -r out.zip dir"),
    ("unzip -P", "unzip -P {} in.zip"),
    ("keytool", "keytool -list -keystore a.jks -storepass {}"),
    ("jarsigner", "jarsigner -keypass {} app.jar me"),
    ("htpasswd -b", "htpasswd -b -c .htpasswd admin {}"),
    (
        "ldapsearch -w",
        "ldapsearch -x -D cn=admin -w {} -b dc=example",
    ),
    (
        "mongo -p",
        "mongosh --username root -p {} --authenticationDatabase admin",
    ),
    (
        "psql string",
        "psql \"host=db user=app password={} dbname=shop\"",
    ),
    ("pgpass", "db.example.org:5432:shop:app:{}"),
    ("netrc", "machine api.example.org login me password {}"),
    (
        "netrc lines",
        "machine api.example.org\n  login me\n  password {}\n",
    ),
    ("git credentials", "https://me:{}@github.com"),
    ("npmrc token", "//registry.npmjs.org/:_authToken={}"),
    ("npmrc auth", "_auth={}"),
    ("pypirc", "[pypi]\nusername = __token__\npassword = {}"),
    (
        "AWS credentials file",
        "[default]\naws_access_key_id = x\naws_secret_access_key = {}",
    ),
    (
        "WireGuard key",
        "[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/24",
    ),
    ("WireGuard preshared key", "PresharedKey = {}"),
    (
        "wpa_supplicant",
        "network={\n  ssid=\"home\"\n  psk=\"{}\"\n}",
    ),
    ("nmcli", "nmcli dev wifi connect home password {}"),
    (
        "Maven settings",
        "<server><id>x</id><username>me</username><password>{}</password></server>",
    ),
    ("XML attribute", "<user name=\"me\" password=\"{}\"/>"),
    ("XML token", "<apiToken>{}</apiToken>"),
    (
        "web.config",
        "<add name=\"db\" connectionString=\"Server=db;User Id=sa;Password={};\" />",
    ),
    (
        "machine key",
        "<machineKey validationKey=\"{}\" decryption=\"AES\" />",
    ),
    (
        "appsettings",
        "{\"ConnectionStrings\": {\"Default\": \"Server=db;User Id=sa;Pwd={};\"}}",
    ),
    (
        "Azure connection string",
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core.windows.net",
    ),
    (
        "Service Bus connection string",
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}",
    ),
    (
        "Cosmos connection string",
        "AccountEndpoint=https://x.documents.azure.com/;AccountKey={};",
    ),
    (
        "SAS address",
        "https://x.blob.core.windows.net/c/f?sv=2022-11-02&se=2027-01-01&sp=r&sig={}",
    ),
    (
        "S3 presigned address",
        "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=60&X-Amz-Signature={}",
    ),
    (
        "S3 security token",
        "https://b.s3.amazonaws.com/k?X-Amz-Security-Token={}&X-Amz-Date=1",
    ),
    (
        "GCS presigned address",
        "https://storage.googleapis.com/b/o?X-Goog-Algorithm=GOOG4&X-Goog-Signature={}",
    ),
    (
        "Spring properties",
        "spring.datasource.username=app\nspring.datasource.password={}",
    ),
    ("Java properties with colon", "db.password: {}\ndb.pool: 4"),
    ("INI", "[mail]\nsmtp_pass = {}\nport = 25"),
    ("TOML", "[db]\nuser = \"app\"\npassword = \"{}\""),
    ("YAML", "database:\n  user: app\n  password: {}\n"),
    ("YAML quoted", "smtp: { user: a, pass: '{}' }"),
    ("YAML folded", "api_key: >-\n  {}\nnext: 1"),
    (
        "HCL",
        "resource \"x\" \"y\" {\n  master_password = \"{}\"\n}",
    ),
    (
        "Terraform variable",
        "terraform apply -var 'db_password={}'",
    ),
    (
        "Ansible variable",
        "ansible-playbook site.yml -e ansible_become_pass={}",
    ),
    ("JSON field", "{\"user\": \"a\", \"clientSecret\": \"{}\"}"),
    (
        "JSON in JSON",
        "{\"body\": \"{\\\"password\\\": \\\"{}\\\"}\"}",
    ),
    ("Python dict", "cfg = {'user': 'a', 'passwd': '{}'}"),
    ("Python keyword", "connect(host='db', password='{}')"),
    (
        "JavaScript object",
        "const c = { apiKey: '{}', region: 'eu' };",
    ),
    ("Java setter", "ds.setPassword(\"{}\");"),
    ("Rust builder", "Config::new().user(\"a\").password(\"{}\")"),
    ("PHP define", "define('DB_PASSWORD', '{}');"),
    ("Ruby hash", "config = { :password => '{}' }"),
    ("environ", "os.environ[\"API_TOKEN\"] = \"{}\""),
    ("process.env", "process.env.SESSION_SECRET = '{}'"),
    ("setenv", "os.Setenv(\"DB_PASSWORD\", \"{}\")"),
    (
        "SQL identified by",
        "CREATE USER 'app'@'%' IDENTIFIED BY '{}';",
    ),
    ("SQL password", "ALTER ROLE app WITH LOGIN PASSWORD '{}';"),
    ("JDBC", "jdbc:mysql://db:3306/shop?user=app&password={}"),
    ("ODBC", "Driver={SQL Server};Server=db;Uid=sa;Pwd={};"),
    (
        "postgres address",
        "postgresql://app:{}@db.example.org:5432/shop",
    ),
    (
        "mongodb address",
        "mongodb+srv://app:{}@cluster0.example.mongodb.net/shop",
    ),
    ("redis address", "rediss://:{}@cache.example.org:6380/0"),
    ("amqp address", "amqps://app:{}@mq.example.org/vhost"),
    (
        "smtp address",
        "smtp://me%40example.org:{}@smtp.example.org:587",
    ),
    (
        "proxy address",
        "HTTPS_PROXY=http://me:{}@proxy.example.org:3128",
    ),
    (
        "git address",
        "git clone https://oauth2:{}@gitlab.example.org/a/b.git",
    ),
    (
        "address parameter",
        "https://maps.example.org/api?key={}&q=x",
    ),
    (
        "address fragment",
        "https://app.example.org/cb#access_token={}&state=1",
    ),
    ("Basic header", "Authorization: Basic {}"),
    ("Bearer header", "Authorization: Bearer {}"),
    ("proxy header", "Proxy-Authorization: Basic {}"),
    ("API key header", "X-Api-Key: {}\r\nAccept: */*"),
    (
        "vault header",
        "curl -H 'X-Vault-Token: {}' https://vault.example.org",
    ),
    (
        "GitLab header",
        "curl --header \"PRIVATE-TOKEN: {}\" https://gitlab.example.org",
    ),
    ("Azure header", "Ocp-Apim-Subscription-Key: {}"),
    ("functions key header", "x-functions-key: {}"),
    ("cookie", "Cookie: sessionid={}; theme=dark"),
    (
        "set-cookie",
        "set-cookie: connect.sid=s%3A{}; Path=/; HttpOnly",
    ),
    ("session id", "PHPSESSID={}"),
    ("curl cookie", "curl -b 'sid={}' https://example.org"),
    ("otpauth address", "otpauth://totp/me?secret={}&issuer=x"),
    ("one-time code", "Your verification code is: {}"),
];

/// More texts: said by people and printed by programs.
pub(crate) const SAID: [(&str, &str); 16] = [
    ("sentence", "the password is {}, don't share it"),
    ("sentence with name", "Use api key {} for the demo"),
    (
        "temporary password",
        "Temporary password: {}\nChange it soon.",
    ),
    (
        "seed phrase",
        "mnemonic: {} abandon ability able about above absent",
    ),
    ("private key in hex", "PRIVATE_KEY=0x{}"),
    ("W&B key", "WANDB_API_KEY={}"),
    ("Datadog key", "DD_API_KEY: {}"),
    ("Twilio token", "TWILIO_AUTH_TOKEN={}"),
    ("Heroku key", "HEROKU_API_KEY={}"),
    ("Postmark header", "X-Postmark-Server-Token: {}"),
    (
        "Slack web hook",
        "https://hooks.slack.com/services/T0/B0/{}",
    ),
    (
        "Discord web hook",
        "https://discord.com/api/webhooks/123/{}",
    ),
    (
        "Teams web hook",
        "https://x.webhook.office.com/webhookb2/{}/IncomingWebhook/1",
    ),
    (
        "Telegram address",
        "https://api.telegram.org/bot123456:{}/getMe",
    ),
    ("Django key", "SECRET_KEY = '{}'"),
    ("Rails key", "secret_key_base: {}"),
];
