#include "corpus/abbreviations.h"

#include <string.h>

/* The lists are short on purpose: words that are abbreviations nearly every time they stand before a full stop. */
const struct language abbreviations[] = {
	{
		.code = "ar",
		.name = "Arabic",
		.joins = "د أ م ا.د أ.د",
	},
	{
		.code = "cs",
		.name = "Czech",
		.joins = "např tzv tj tzn resp mj popř příp ing mgr bc mudr judr phdr rndr paeddr thdr dr prof doc mr mrs pí sv "
			 "gen plk pplk kpt por npor odd zvl zejm přibl srov angl něm lat řec franc fr",
		.counts = "čís str kap obr tab roč odst par tel cca",
		.ends = "atd apod aj stol n.l př.n.l hod min mil mld tis kč spol",
		.starters = "V Na To Ten Ta Je Za Po Od Do Při Pro Ale Když Jeho Její Byl Byla Bylo Podle Tento Tato Toto Také Však",
		.ordinals = true,
	},
	{
		.code = "da",
		.name = "Danish",
		.joins = "bl.a ca dvs eks f.eks fx hr fr frk jf mht pga vedr dr prof lic cand ing sml evt inkl ekskl hhv iht ifm "
			 "p.gr.a p.t s.k såk skt kgl",
		.counts = "nr kap bd fig tlf tab stk pkt",
		.ends = "osv etc m.m m.v m.fl o.l årh f.kr e.kr mio mia kr jr sr aug sept okt nov dec jan febr feb",
		.starters = "Den Det De Han Hun Jeg Vi Der Men Og En Et I På Til Fra Med Da Når Efter Som Her Hvad Hvis Denne Dette",
		.ordinals = true,
	},
	{
		.code = "de",
		.name = "German",
		.joins = "abb abk abs abt allg amtl anm art aufl ausg begr bes betr bez bspw bzgl bzw ca chr d.h dipl dr ebd ehem "
			 "einschl engl entspr etw ev evang evtl exkl fa fam ff fr franz frl frz gegr geb gen gest ggf griech hbf "
			 "hg hl hr hrsg i.a i.d.r ing inkl insb insbes ital jew jmd jur kap kath kgl lat lfd lt mag med mind n.chr "
			 "nat niederl nördl o.g od österr östl parl phil prof päd rd rer röm russ s.o s.u schweiz sog span spez st "
			 "staatl stellv südl tägl techn theol u.a u.ä usf ursprüngl v.a v.chr verf verh vgl vors westl wiss "
			 "z.b z.t z.zt zit zzgl dt dtsch habil",
		.counts = "nr nrn bd bde tel sp tab fig par ziff rn no vol",
		.ends = "usw etc jh jhd jhdt jr sen mio mrd str u.s.w o.ä u.ä.m u.a.m u.v.m u.dgl dgl std min sek "
			"Jan Feb Mär Apr Jun Jul Aug Sep Sept Okt Nov Dez",
		.starters = "Der Die Das Ein Eine Einer Er Sie Es Wir Ihr Ich In Im Am An Auf Aus Bei Beim Mit Nach Von Vom Zu Zum "
			    "Zur Für Über Unter Durch Seit Während Wenn Als Da Dann Doch Aber Und Oder Auch So Wie Was Wer Wo "
			    "Warum Dieser Diese Dieses Diesem Diesen Sein Seine Ihre Man Nicht Nur Noch Heute Hier Dort Damit "
			    "Dabei Dazu Danach Daher Deshalb Bis Ab Um Zwischen Trotz Obwohl Weil Jedoch Außerdem Sowohl Ob Alle",
		.ordinals = true,
	},
	{
		.code = "en",
		.name = "English",
		.joins = "mr mrs ms messrs mme mlle dr drs prof profs Ste Rev Revd Hon Gen Maj Col Lt Capt Cmdr Cdr Comdr Sgt Cpl Pvt Adm "
			 "Brig Gov Pres Sen Sens Rep Reps Supt Insp Mt Mts Ft Fr Msgr Mgr Amb Dir Atty Asst Pte Bvt vs viz cf e.g "
			 "i.e esp approx incl Gens Profs Lieut Asso Assoc Hr Frl ca",
		.counts = "no nos pp vol vols ch chap chaps fig figs eq eqs sec sect secs art arts par para pt pts op cap ll fl bk bks n°",
		.ends = "co cos corp inc ltd llc bros plc jr sr esq ph.d d.phil m.phil b.sc m.sc ave blvd rd hwy st sts dept depts "
			"univ assn intl mfg al cit ibid Calif Conn Fla Mich Minn Tenn Tex Va Wis Wyo "
			"Ariz Ark Ala Colo Okla Neb Nev Kan Ky Md Vt Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Tues Wed Thurs",
		.starters = "A According After All Although An And Another Any Are As At Because Before Both But By Can Did Do Does "
			    "During Each Even Every Few For From Had Has Have He Her Here His How However I If In Is It Its Just "
			    "Later Let Many Meanwhile More Most My No Nor Not Nothing Now Of On Once One Only Or Other Our Perhaps "
			    "She Should Since So Some Such Than Thanks That The Their Then There Therefore These They This Those Though "
			    "Thus To Today Two Under Unlike Until Upon Was We Well Were What When Where Whether Which While Who Whose "
			    "Why Will With Without Would Yes Yet You Your",
		.pronoun = "I",
	},
	{
		.code = "es",
		.name = "Spanish",
		.joins = "sr sra srta sres sras dr dra drs prof profa lic ing arq dña dn fr gral cap cnel cmdte tte sgto gob pdte mons "
			 "p.ej ej cf cfr av avda ca aprox vs ud uds vd vds excmo excma ilmo ilma sto sta rvdo hnos",
		.counts = "núm num nº n.º pág págs pag pp vol vols cap caps art arts fig figs ed tel apdo",
		.ends = "etc cía cia ltda s.a s.l ee.uu a.c d.c a.m p.m jr ene feb mar abr may jun jul ago sept sep oct nov dic",
		.starters = "El La Los Las Un Una Unos En De Por Para Con Es Se Su Sus No Y Pero Como Cuando Al Del Lo Le Que Este Esta "
			    "Esto Estos Ese Esa Él Ella Ellos Yo Si Sin Según Durante Desde Después También Además Hay Fue Era",
	},
	{
		.code = "fr",
		.name = "French",
		.joins = "mm mme mmes mlle mlles mgr dr drs pr prof me st ste cf càd env p.ex ex av apr cie lt col gén cap cdt "
			 "chap éd hab boul bd fg sq dép",
		.counts = "pp no nos n° nº vol vols art al fig figs pl tél chap coll",
		.ends = "etc ltd inc corp co s.a janv févr avr juil sept oct nov déc jr sté ets",
		.starters = "Le La Les Un Une Des Il Elle Ils Elles On Nous Vous Je Ce Cet Cette Ces L D C J N S Qu En Dans Sur Pour Par Avec De Du Au "
			    "Aux À Et Mais Ou Si Son Sa Ses Leur Leurs Selon Depuis Après Avant Pendant Comme Quand Lorsque Ainsi "
			    "Cependant Puis Qui Que Tous Toutes Tout",
	},
	{
		.code = "hi",
		.name = "Hindi",
		.joins = "डॉ डा प्रो श्री श्रीमती पं मि",
	},
	{
		.code = "it",
		.name = "Italian",
		.joins = "sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa ing avv arch rag geom on sen gen col cap ten mons don cfr "
			 "es p.es ad.es ss spett gent.mo egr",
		.counts = "nr num pp pag pagg vol voll cap capp art artt fig figg tav tel ca lett",
		.ends = "ecc etc s.p.a s.r.l a.c d.c soc jr gen feb mar apr mag giu lug ago set sett ott nov dic",
		.starters = "Il Lo La Gli Le Un Uno Una In Di Da Per Con Su Nel Nella Nei Al Alla Dal Del È E Ma Non Si Se Che Questo "
			    "Questa Questi Egli Ella Essi Anche Come Quando Dopo Durante Secondo Tra Fra Sono Era",
	},
	{
		.code = "ja",
		.name = "Japanese",
	},
	{
		.code = "ko",
		.name = "Korean",
	},
	{
		.code = "nl",
		.name = "Dutch",
		.joins = "dhr mw mevr mr mrs drs dr ir ing prof ds jhr gebr bijv b.v o.a m.a.w d.w.z i.p.v t.a.v t.o.v m.b.t i.v.m a.d "
			 "ca vgl resp zgn st gen kol kap lt z.g m.n n.a.v o.l.v t.g.v evt incl excl",
		.counts = "nr nrs blz pag art afb hfst fig tel dl vol",
		.ends = "enz etc e.d e.a jl n.v v.chr n.chr mln mld jr sr jan feb mrt apr jun jul aug sep sept okt nov dec",
		.starters = "De Het Een In Op Van Voor Met Bij Uit Naar Aan Om Te Hij Zij Ze Ik Wij We Jij Je U Dit Dat Deze Die Er En Maar "
			    "Of Als Toen Nu Ook Niet Zo Wat Wie Waar Hoe Waarom Zijn Haar Hun Na Door Tijdens Volgens Sinds Omdat",
	},
	{
		.code = "pl",
		.name = "Polish",
		.joins = "np tzw tzn tj m.in mgr inż dr hab prof gen płk ppłk mjr kpt ppor sierż ks św bł pw ul al pl zob por wg ob "
			 "im woj pow gm red tłum ang niem łac franc ros wł",
		.counts = "nr nry str rozdz rys tab art ust pkt poz tel ok vol",
		.ends = "itd itp etc n.e p.n.e wiek godz min tys mln mld zł w.w ww jr st",
		.starters = "W Na Z Do Po Od To Ten Ta Te Jest Był Była Było Nie Jak Gdy Kiedy Ale I A On Ona Oni Za Przez Przed Pod Dla "
			    "Jego Jej Ich Według Także Jednak Podczas Tak",
		.ordinals = true,
	},
	{
		.code = "pt",
		.name = "Portuguese",
		.joins = "sr sra srs sras srta dr dra drs prof profa eng arq exmo exma ilmo d dom fr gal cel cap ten sgt gov pres sto sta "
			 "av cf p.ex ex vs aprox v.exa",
		.counts = "nº n.º núm pág págs pp vol vols cap caps art arts fig figs ed tel séc",
		.ends = "etc cia ltda s.a a.c d.c jr jan fev mar abr mai jun jul ago set out nov dez e.u.a eua",
		.starters = "O A Os As Um Uma Em No Na Nos Nas De Do Da Por Para Com É Se Seu Sua Não E Mas Como Quando Ao Que Este Esta "
			    "Isto Esse Essa Ele Ela Eles Eu Segundo Durante Desde Depois Após Também Foi Era",
	},
	{
		.code = "ru",
		.name = "Russian",
		.joins = "т.е т.н т.к т.о напр им проф акад доц ул просп пер пл наб пос дер св гр ген полк кап лейт "
			 "ср см англ нем фр лат греч итал исп яп кит букв пгт обл тов",
		.counts = "стр гл рис табл тт вып пп ст № кн изд кв тел ок",
		.ends = "гг вв н.э др пр т.д т.п руб коп тыс млн млрд долл у.е мин сек куб.м кв.м янв фев февр апр авг сент окт нояб "
			"дек",
		.starters = "В Во На С Со И А Но Он Она Оно Они Это Этот Эта Эти Я Мы Вы Не По К Ко У За Из От До Для Как Когда Если Что "
			    "Его Её Ее Их При После Через Также Так Тогда Там Только Был Была Было Были Кроме Однако Все Всё О Об",
	},
	{
		.code = "sv",
		.name = "Swedish",
		.joins = "bl.a ca d.v.s dvs t.ex fr.o.m t.o.m s.k p.g.a m.a.o o.dyl resp hr fr dr prof doc ing kapt jfr ev inkl exkl "
			 "enl st",
		.counts = "nr sid kap bd fig tel tab st",
		.ends = "osv etc m.m m.fl f.kr e.kr milj mkr kr årh jr sr jan febr feb apr aug sept okt nov dec",
		.starters = "Den Det De Han Hon Jag Vi Ni Man Men Och En Ett I På Till Från Med Då När Efter Som Här Vad Om Denna Detta "
			    "Dessa Under Enligt",
	},
	{
		.code = "uk",
		.name = "Ukrainian",
		.joins = "т.зв напр ім проф акад доц вул просп пров пл наб смт св див пор англ нім фр лат рос пан обл тов",
		.counts = "стор гл рис табл тт вип пп ст № кн вид кв буд тел",
		.ends = "рр ст н.е ін т.д т.п грн коп тис млн млрд дол січ лют бер квіт трав черв лип серп вер жовт листоп груд",
		.starters = "У В На З Із І Й А Але Він Вона Воно Вони Це Цей Ця Ці Я Ми Ви Не По До За Від Для Як Коли Якщо Що Його Її Їх "
			    "При Після Через Також Так Тоді Там",
	},
	{
		.code = "und",
		.name = "any other language",
	},
	{
		.code = "zh",
		.name = "Chinese",
	},
};
const size_t abbreviations_count = sizeof(abbreviations) / sizeof(abbreviations[0]);

const struct language *abbreviations_of(const char *code)
{
	for (size_t i = 0; i < abbreviations_count; i++)
		if (strcmp(abbreviations[i].code, code) == 0)
			return &abbreviations[i];
	return NULL;
}
