/** Passwords of eight and more characters that attackers try first, in lower case. */
export const guessedPasswords: ReadonlySet<string> = new Set(
  `
  01234567 0123456789 10203040 1020304050 102030405060 11223344 1122334455 112233445566 12121212
  123123123 123321123 12341234 12344321 12345678 123456780 123456789 1234567890 12345678910
  123456789a 12345678a 1234abcd 123654789 147258369 147852369 159357159 159753159 1q2w3e4r
  1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx 1qazxsw2 321654987 741852963 789456123 87654321 987654321
  9876543210 a12345678 a123456789 abc12345 abc123456 abcd1234 abcdefg1 abcdefgh abcdefghi
  acesso123 acesso1234 admin123 admin1234 administrador administrator amanda123 amordedeus
  amordeus amoremio amormeu1 asdf1234 asdfghjk asdfghjkl atletico atletico1 atleticomg banco123
  baseball batman123 beatriz1 beatriz123 bemvindo bemvindo1 borboleta borboleta1 botafogo
  botafogo1 brasil10 brasil123 brasil2014 brasil2022 brasileiro bruno123 cachorro cachorro1
  camila123 carolina carolina1 changeme changeme1 chocolate chocolate1 cliente1 cliente123
  computer conta123 contrasena contraseña corinthians corinthians1 corinthians10 cruzeiro
  cruzeiro1 cruzeiro10 daniel123 deusamor deuseamor deusefiel deusefiel1 deusefiel123 dinheiro
  dinheiro1 dinheiro123 dragon123 eduarda1 eduardo1 esqueci1 esqueci123 estrela1 estrela123
  euteamo1 euteamo123 facebook facebook1 familia1 familia123 felicidade felipe123 fernanda
  fernanda1 fernando fernando1 flamengo flamengo1 flamengo10 flamengo123 fluminense fluminense1
  football gabriel1 gabriel123 gabriela gabriela1 gmail123 google123 gratidao gremio10 gremio123
  guilherme guilherme1 gustavo1 gustavo123 hotmail1 hotmail123 iloveyou iloveyou1 instagram
  internacional internet isabela1 isabella jennifer jesus123 jesusama jesusamor jesuscristo
  jesuseteamo jesusteama joao1234 joaopedro joaovitor jordan23 juliana1 juliana123 larissa1
  larissa123 leonardo leonardo1 leticia1 leticia123 letmein1 letmein123 lucas123 maria123
  mariaclara mariaeduarda mariana1 mariana123 master123 matheus1 matheus123 meuamor1 meuamor123
  michael1 minhasenha minhasenha1 minhavida monkey123 motdepasse mudar123 mudar@123 naolembro
  naoseinao p@ssw0rd p@ssword p@ssword1 pa$$word palmeiras palmeiras1 palmeiras10 passw0rd
  password password1 password12 password123 password1234 passwort pedro123 pix12345 pokemon1
  pokemon123 princesa princess q1w2e3r4 q1w2e3r4t5 qazwsxedc qualquer qwer1234 qwerty12 qwerty123
  qwerty1234 qwerty12345 qwertyui qwertyuiop rafael123 rafaela1 ricardo1 rodrigo1 root1234
  s3nha123 samsung1 samsung123 santos123 santosfc saopaulo saopaulo1 saopaulofc secret123
  seguranca senha123 senha1234 senha12345 senha123456 senha2020 senha2021 senha2022 senha2023
  senha2024 senha2025 senha2026 senha@123 senha@1234 senhasenha shadow123 starwars suasenha
  sunshine superman superman1 teamo123 test1234 testando teste123 teste1234 testtest trocarsenha
  trustno1 universo usuario1 usuario123 vasco123 vascodagama vascodagama1 victoria vitoria1
  vitoria123 welcome1 welcome123 whatever whatsapp whatsapp1 zaq12wsx zxcvbnm1 zxcvbnm123
`
    .trim()
    .split(/\s+/),
);
