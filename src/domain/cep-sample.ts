/**
 * A few real CEPs, at least one of each state, to look up without a provider: street, district and
 * city in the spelling of Correios.
 */
export const sampleCeps: ReadonlyMap<
  string,
  readonly [logradouro: string, bairro: string, cidade: string]
> = new Map([
  ['01001000', ['Praça da Sé', 'Sé', 'São Paulo']],
  ['01045001', ['Praça da República', 'República', 'São Paulo']],
  ['01310100', ['Avenida Paulista', 'Bela Vista', 'São Paulo']],
  ['13216000', ['Avenida São João', 'Vila Joana', 'Jundiaí']],
  ['20040002', ['Avenida Rio Branco', 'Centro', 'Rio de Janeiro']],
  ['22010000', ['Avenida Atlântica', 'Copacabana', 'Rio de Janeiro']],
  ['29946490', ['Avenida Esbertalina Barbosa Damiani', 'Guriri Norte', 'São Mateus']],
  ['30120060', ['Rua dos Carijós', 'Centro', 'Belo Horizonte']],
  ['30130005', ['Avenida Afonso Pena', 'Boa Viagem', 'Belo Horizonte']],
  ['40330200', ['Rua Conde de Porto Alegre', 'IAPI', 'Salvador']],
  ['49082600', ['Avenida Tiradentes', 'Novo Paraíso', 'Aracaju']],
  ['50030230', ['Cais do Apolo', 'Recife', 'Recife']],
  ['57307340', ['Rua Antônio Messias', 'Jardim Esperança', 'Arapiraca']],
  ['58414350', ['Rua Manoel do O. Júnior', 'Liberdade', 'Campina Grande']],
  ['59080450', ['Rua Raimundo de Medeiros Dantas', 'Neópolis', 'Natal']],
  ['60170001', ['Avenida Desembargador Moreira', 'Aldeota', 'Fortaleza']],
  ['64000290', ['Rua Arlindo Nogueira', 'Centro', 'Teresina']],
  ['65604055', ['Rua Alfredo Beleza', 'Centro', 'Caxias']],
  ['66055260', ['Avenida Governador José Malcher', 'Nazaré', 'Belém']],
  ['68908883', ['Avenida Marechal Eduardo Gomes', 'Infraero', 'Macapá']],
  ['69020060', ['Rua Major Gabriel', 'Centro', 'Manaus']],
  ['69301380', ['Praça do Centro Cívico', 'Centro', 'Boa Vista']],
  ['69900156', ['Beco da Ligação I', 'Preventório', 'Rio Branco']],
  ['71020631', ['QE 11 Área Especial C', 'Guará I', 'Brasília']],
  ['72922578', ['Quadra 35', 'Jardim América IV', 'Águas Lindas de Goiás']],
  ['75802095', ['Avenida Tocantins', 'Vila Jardim Rio Claro', 'Jataí']],
  ['76900032', ['Travessa da CDL', 'Centro', 'Ji-Paraná']],
  ['77023576', ['Quadra ARSE 102 Alameda 14 A', 'Plano Diretor Sul', 'Palmas']],
  ['78048135', ['Avenida República do Líbano', 'Despraiado', 'Cuiabá']],
  ['79002290', ['Rua da Imprensa', 'Monte Castelo', 'Campo Grande']],
  ['80530000', ['Avenida Cândido de Abreu', 'Centro Cívico', 'Curitiba']],
  ['88020231', ['Rua 13 de Maio', 'Centro', 'Florianópolis']],
  ['91260316', ['Rua São José', 'Mário Quintana', 'Porto Alegre']],
  ['96204040', ['Avenida Almirante Maximiano Fonseca', 'Zona Portuária', 'Rio Grande']],
]);
