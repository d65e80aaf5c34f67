export interface Language {
  /** As tesseract names it. */
  code: string;
  /** For the page. */
  lang: string;
  fonts: [string, string];
  title: string;
  paragraphs: string[];
}

/** Prose with numbers, quotations and dashes, written for this check. */
export const languages: Language[] = [
  {
    code: 'eng',
    lang: 'en',
    fonts: ['Liberation Serif', 'DejaVu Sans'],
    title: 'Report on the harbour bridge',
    paragraphs: [
      'The committee met on 14 March to discuss the repair of the old bridge. Its northern arch had sunk by 37 millimetres since the survey of 1998, and the engineers no longer wished to wait. “If we begin in summer,” said the chairwoman, “the road can open again before the first frost.”',
      'Three firms had sent their offers. The cheapest asked for 2,450,000 pounds but left out the railings; the second wanted 2.8 million and a delay of six weeks. The third, which had built the lighthouse at Quarry Point, promised to keep one lane open for buses, bicycles and ambulances at all hours.',
      'After a long debate the members agreed on the third offer by nine votes to four. They asked for a monthly account of the costs, a plan for heavy lorries, and a small exhibition in the town hall, so that everybody could see which stones were replaced and why.',
      'Work starts on Monday, 2 June. The ferry will run every twenty minutes between 6:30 and 22:00; tickets cost 1.20 pounds, and children under twelve travel free. Questions are answered by the office on Fish Street, next to the library, or by telephone at 0555 731 846.',
    ],
  },
  {
    code: 'deu',
    lang: 'de',
    fonts: ['Liberation Serif', 'DejaVu Sans'],
    title: 'Bericht über die Hafenbrücke',
    paragraphs: [
      'Der Ausschuss traf sich am 14. März, um über die Ausbesserung der alten Brücke zu beraten. Ihr nördlicher Bogen war seit der Vermessung von 1998 um 37 Millimeter gesunken, und die Prüfer wollten nicht länger warten. „Wenn wir im Sommer beginnen“, sagte die Vorsitzende, „kann die Straße noch vor dem ersten Frost wieder öffnen.“',
      'Drei Firmen hatten Angebote geschickt. Die günstigste verlangte 2.450.000 Euro, ließ aber die Geländer weg; die zweite wollte 2,8 Millionen und sechs Wochen Aufschub. Die dritte, die schon den Leuchtturm am Steinbruch gebaut hatte, versprach, eine Spur für Busse, Fahrräder und Rettungswagen jederzeit freizuhalten.',
      'Nach langer Aussprache einigten sich die Mitglieder mit neun zu vier Stimmen auf das dritte Angebot. Sie wünschten außerdem eine monatliche Übersicht der Kosten, einen Plan für schwere Lastwagen und eine kleine Ausstellung im Rathaus, damit jeder sehen kann, welche Steine ersetzt wurden und weshalb.',
      'Die Arbeiten beginnen am Montag, dem 2. Juni. Die Fähre verkehrt alle zwanzig Minuten zwischen 6:30 und 22:00 Uhr; Fahrscheine kosten 1,20 Euro, Kinder unter zwölf Jahren fahren kostenlos. Fragen beantwortet das Büro in der Fischgasse neben der Bücherei, telefonisch unter 0555 731 846.',
    ],
  },
  {
    code: 'fra',
    lang: 'fr',
    fonts: ['Liberation Serif', 'DejaVu Sans'],
    title: 'Rapport sur le pont du port',
    paragraphs: [
      'La commission s’est réunie le 14 mars pour examiner la réparation du vieux pont. Son arche nord s’était affaissée de 37 millimètres depuis le relevé de 1998, et les ingénieurs ne souhaitaient plus attendre. Si nous commençons en été, a déclaré la présidente, la route pourra rouvrir avant les premières gelées.',
      'Trois entreprises avaient envoyé leurs offres. La moins chère demandait 2 450 000 euros, mais oubliait les garde-corps ; la deuxième voulait 2,8 millions et un délai de six semaines. La troisième, qui avait déjà bâti le phare de la carrière, promettait de garder une voie ouverte aux autobus, aux vélos et aux ambulances à toute heure.',
      'Après un long débat, les membres ont choisi la troisième offre par neuf voix contre quatre. Ils ont demandé un état mensuel des dépenses, un itinéraire pour les camions lourds et une petite exposition à la mairie, afin que chacun puisse voir quelles pierres ont été remplacées, où et pourquoi.',
      'Les travaux débutent le lundi 2 juin. Le bac circulera toutes les vingt minutes entre 6 h 30 et 22 h ; le billet coûte 1,20 euro et les enfants de moins de douze ans voyagent gratuitement. Le bureau de la rue aux Poissons, à côté de la bibliothèque, répond aux questions, même par téléphone au 0555 731 846.',
    ],
  },
  {
    code: 'rus',
    lang: 'ru',
    fonts: ['Liberation Serif', 'DejaVu Sans'],
    title: 'Отчёт о портовом мосте',
    paragraphs: [
      'Комиссия собралась 14 марта, чтобы обсудить ремонт старого моста. Его северная арка с обследования 1998 года опустилась на 37 миллиметров, и инженеры больше не хотели ждать. «Если мы начнём летом, — сказала председательница, — дорога откроется снова до первых морозов».',
      'Три фирмы прислали свои предложения. Самая дешёвая просила 2 450 000 рублей, но забыла о перилах; вторая хотела 2,8 миллиона и отсрочку на шесть недель. Третья, которая уже построила маяк у каменоломни, обещала держать одну полосу открытой для автобусов, велосипедов и машин скорой помощи.',
      'После долгого спора участники выбрали третье предложение девятью голосами против четырёх. Они попросили ежемесячный отчёт о расходах, объезд для тяжёлых грузовиков и небольшую выставку в ратуше, чтобы каждый мог увидеть, какие камни заменили, где и почему это было необходимо.',
      'Работы начинаются в понедельник, 2 июня. Паром будет ходить каждые двадцать минут с 6:30 до 22:00; билет стоит 120 рублей, дети до двенадцати лет едут бесплатно. На вопросы отвечает контора на Рыбной улице рядом с библиотекой или по телефону 0555 731 846.',
    ],
  },
  {
    code: 'jpn',
    lang: 'ja',
    fonts: ['Noto Serif CJK JP', 'Noto Sans CJK JP'],
    title: '港の橋に関する報告',
    paragraphs: [
      '委員会は三月十四日に集まり、古い橋の修理について話し合いました。北側のアーチは1998年の調査から37ミリ沈んでおり、技術者たちはこれ以上待つことを望みませんでした。「夏に始めれば、最初の霜が降りる前に道路を再び開くことができます」と委員長は述べました。',
      '三つの会社が見積もりを送りました。最も安い会社は2450万円を求めましたが、手すりを忘れていました。二番目の会社は2800万円と六週間の延期を望みました。以前に灯台を建てた三番目の会社は、バスや自転車、救急車のために一車線をいつでも開けておくことを約束しました。',
      '長い議論の後、委員たちは九対四で三番目の案を選びました。また、毎月の費用の報告、大型トラックのための計画、そして市役所での小さな展示会を求めました。どの石がなぜ取り替えられたのかを、誰でも見ることができるようにするためです。',
      '工事は六月二日の月曜日に始まります。渡し船は朝六時半から夜十時まで二十分ごとに運航します。切符は120円で、十二歳未満の子供は無料です。質問には図書館の隣にある事務所が答えます。電話番号は0555の731846です。',
    ],
  },
  {
    code: 'ara',
    lang: 'ar',
    fonts: ['Noto Naskh Arabic', 'Noto Sans Arabic'],
    title: 'تقرير عن جسر الميناء',
    paragraphs: [
      'اجتمعت اللجنة في مارس لمناقشة إصلاح الجسر القديم. فقد هبط القوس الشمالي منذ المسح الأخير ولم يعد المهندسون يرغبون في الانتظار. وقالت رئيسة اللجنة إن الطريق يمكن أن يفتح من جديد قبل بداية الشتاء إذا بدأ العمل في الصيف.',
      'أرسلت ثلاث شركات عروضها. طلبت الشركة الأولى مبلغا صغيرا ولكنها نسيت الحواجز وأرادت الثانية مبلغا أكبر وتأخيرا لمدة أسابيع. أما الثالثة التي بنت المنارة قبل سنوات فقد وعدت بإبقاء ممر واحد مفتوحا للحافلات والدراجات وسيارات الإسعاف في كل وقت.',
      'بعد نقاش طويل اختار الأعضاء العرض الثالث بأغلبية كبيرة. وطلبوا تقريرا شهريا عن التكاليف وخطة للشاحنات الثقيلة ومعرضا صغيرا في دار البلدية حتى يستطيع كل إنسان أن يرى الحجارة التي استبدلت وأن يعرف سبب ذلك.',
      'يبدأ العمل يوم الاثنين القادم. تبحر العبارة كل عشرين دقيقة من الصباح حتى المساء والتذاكر رخيصة ويسافر الأطفال الصغار مجانا. ويجيب المكتب الواقع في شارع السمك بجوار المكتبة عن كل الأسئلة كما يمكن الاتصال به بالهاتف في أيام العمل.',
    ],
  },
];
