//! Words that help to read a message, in the most spoken languages. They only help to guess. Other texts are still understood by mentions, names,
//! replies and question marks.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt};

/// The senses of words and phrases. One word can have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Sense {
    Greeting,
    Thanks,
    Praise,
    /// Takes note or agrees: "ok", "got it", "fair enough".
    Agreeing,
    /// Asks for pardon or attention: "sorry", "excuse me", "hör mal".
    Attention,
    /// Says nothing at the beginning of a sentence: "ok", "so", "and".
    Opener,
    Please,
    /// Begins a question.
    Question,
    /// Speaks to somebody.
    You,
    /// Begins a question whether somebody can do something: "can you", "kannst".
    CanYou,
    /// Asks somebody to do something: "can you", "könntest du".
    AskToDo,
    /// Begins a question about somebody else: "can bob …".
    Can,
    /// A verb that begins a request.
    Request,
    /// A verb that speaks to somebody after a name, but begins no request on its own: "look".
    Imperative,
    /// Before a name: the name is talked about. "to vince", "told vince".
    Governing,
    /// After a name: the name is talked about. "vince is", "vince said".
    Stating,
    /// The subject or the verb of a statement: "we", "it is".
    Telling,
    /// Before or after a name.
    Title,
    /// Begins a clause after a name: "I", "my", "the", "мне".
    Subject,
    /// The people and personas together: "we", "our".
    We,
    /// Refers to what was said before: "it", "then", "dazu".
    Anaphora,
    /// Meals, meetings of people and other small talk.
    Social,
    /// The infinitive of a verb that requests something: "prüfen".
    Deed,
    /// Asks for people: "who".
    Who,
    /// The author says who they are: "I'm", "this is".
    Introducing,
    /// After the author's name: "Ann here".
    Here,
    /// Joins two names.
    And,
    /// The team as a whole.
    Team,
    /// Everybody in the room: "folks", "all of you".
    Everybody,
    /// Asks whether somebody is there.
    Presence,
    Stop,
    /// Calls off what is being done, if anything is: "cancel that".
    CallOff,
    /// May stand beside a word that means "stop".
    AroundStop,
}

impl Sense {
    /// The number of senses.
    pub(super) const COUNT: usize = Self::AroundStop as usize + 1;
}

/// Phrases by sense, separated by `|`. A phrase has at most four words.
#[rustfmt::skip] // By language, a line each.
const PHRASES: &[(Sense, &[&str])] = &[
    (Sense::Greeting, &[
        "hi|hey|hello|heya|hiya|yo|howdy|dear|good morning|morning|good afternoon|afternoon|good evening|evening|good day|greetings|welcome back|sup|gm|hey there|hi there|hello there|attention",
        "hallo|guten morgen|guten tag|guten abend|moin|servus|grüezi|grüß dich|liebe|lieber|hola|buenas|buenos días|buenos dias|buenas tardes|buenas noches|querido|querida|estimado|estimada|caro|cara|prezado|prezada|gentile",
        "bonjour|salut|bonsoir|coucou|cher|chère|rebonjour|oi|olá|ola|bom dia|boa tarde|boa noite|opa|e aí|ciao|buongiorno|buonasera|salve|hoi|hej|hei|merhaba|selam|günaydın|cześć|witam",
        "привет|здравствуйте|здравствуй|доброе утро|добрый день|добрый вечер|всем привет|доброго дня|уважаемый|уважаемая|дорогой|дорогая|नमस्ते|नमस्कार|सुप्रभात|हैलो|हाय|namaste|namaskar|suprabhat",
        "مرحبا|مرحباً|أهلا|أهلاً|اهلا|صباح الخير|مساء الخير|السلام عليكم|سلام|হ্যালো|নমস্কার|সুপ্রভাত|শুভ সকাল|হাই|আসসালামু আলাইকুম|السلام علیکم|ہیلو|آداب|صبح بخیر|selamat pagi|halo|salam|assalamu alaikum",
    ]),
    (Sense::Thanks, &[
        "thanks|thank you|thx|ty|tysm|cheers|thanks a lot|thanks so much|thank you so much|thank you very much|many thanks|much appreciated|good job|great job|well done|nice work|great work|good work|good bot|nice one",
        "danke|vielen dank|danke schön|dankeschön|danke dir|merci|merci beaucoup|merci bien|gracias|muchas gracias|mil gracias|obrigado|obrigada|muito obrigado|muito obrigada|valeu|grazie|grazie mille|bedankt|dank je|tack|teşekkürler|sağ ol|dzięki",
        "спасибо|большое спасибо|спасибо большое|благодарю|спс|धन्यवाद|शुक्रिया|बहुत धन्यवाद|dhanyavaad|shukriya|شكرا|شكراً|شكرا جزيلا|شكراً جزيلاً|ধন্যবাদ|অনেক ধন্যবাদ|شکریہ|بہت شکریہ|terima kasih|makasih",
    ]),
    (Sense::Praise, &["great|perfect|nice|awesome|cool|brilliant|lovely|excellent|amazing|wonderful|super|prima|toll|genial|perfecto|estupendo|parfait|génial|perfeito|ótimo|отлично|супер|здорово|बढ़िया|शानदार|ممتاز|رائع|দারুণ|চমৎকার|زبردست|بہت خوب|haha|lol|noted|got it|makes sense"]),
    (Sense::Agreeing, &[
        "ok|okay|okey|k|kk|okie|alright|all right|right|good|fine|sure|yes|yeah|yep|yup|aye|hm|hmm|ah|oh|aha|i see|got it|gotcha|noted|understood|makes sense|fair|fair enough|agreed|roger|all good|good to know|sounds good|works for me|that works|will do|good point|interesting",
        "gut|alles klar|klar|ja|genau|verstanden|verstehe|ach so|achso|aha|passt|stimmt|in ordnung|vale|bueno|entendido|de acuerdo|claro|sí|d'accord|compris|ça marche|oui|entendu|bien|va bene|capito|certo|sì|d'accordo|beleza|entendi|sim|tá|tá bom|combinado|certo|begrepen|prima|goed",
        "да|ок|окей|хорошо|ладно|понятно|понял|поняла|ясно|договорились|согласен|согласна|अच्छा|ठीक|ठीक है|हाँ|समझ गया|समझ गई|theek hai|accha|حسنا|حسناً|تمام|نعم|فهمت|طيب|আচ্ছা|ঠিক আছে|হ্যাঁ|বুঝেছি|اچھا|ٹھیک ہے|ہاں|tamam|anladım|oke|baik|siap|dobra|jasne|rozumiem",
    ]),
    (Sense::Attention, &[
        "sorry|excuse me|pardon|apologies|my apologies|my bad|sorry to bother you|ay|ey|ei|quick question|question|one question|one thing|a question",
        "entschuldigung|entschuldige|hör mal|sag mal|oye|oiga|mira|écoute|dis|dis-moi|olha|escuta|слушай|слушайте|सुनो|सुनिए|suno|سنو|سنیں|শোনো|শুনুন|اسمع|verzeihung|kurze frage|pardon|excuse moi|excuse-moi|excusez-moi|désolé|désolée|perdón|perdona|disculpa|disculpe|lo siento|desculpa|desculpe|com licença|scusa|scusi",
        "извини|извините|прости|простите|माफ़ करना|माफ कीजिए|क्षमा करें|maaf karna|عفوا|عفواً|آسف|آسفة|المعذرة|দুঃখিত|মাফ করবেন|معاف کیجیے|معذرت|maaf",
    ]),
    (Sense::Opener, &[
        "ok|okay|so|and|well|now|then|also|but|right|alright|all right|good|hmm|hm|oh|ah|yes|no|yeah|yep|nope|btw|by the way|anyway|actually|just|hey hey|fyi|yo|listen|look|come on|wait|a quick one|quickly|later|maybe|finally|first|next|lol|haha|hehe|ugh|argh|wow|damn|omg|nah|cheers|please|pls|then|someone|somebody|anyone|anybody|jemand|quelqu'un|alguien|alguém|qualcuno",
        "also|und|na|gut|ach|ja|nein|übrigens|mal|moment|y|bueno|vale|pues|sí|alors|et|bon|eh|oui|non|e|bom|então|sim|não|allora|ну|так|а|и|да|нет|кстати|अच्छा|तो|और|हाँ|अरे|اچھا|اور|ہاں|يا|طيب|و|نعم|আচ্ছা|আর|হ্যাঁ|এই",
    ]),
    (Sense::Please, &[
        "please|pls|plz|kindly|bitte|por favor|porfa|s'il te plaît|s'il te plait|s'il vous plaît|stp|svp|per favore|пожалуйста|плиз|कृपया|प्लीज़|kripya|من فضلك|من فضلكم|لو سمحت|لو سمحتم|رجاء|رجاءً|অনুগ্রহ করে|দয়া করে|প্লিজ|براہ کرم|براہِ کرم|پلیز|tolong|lütfen|proszę|alsjeblieft",
    ]),
    (Sense::Question, &[
        "what|why|how|when|where|who|whom|whose|which|any idea|any news|any update|any thoughts|thoughts|any chance|anybody know|anyone know|does anyone|do we|did we|are we|have we|is there|are there|has anyone|is it|is the|are the|was the|were the|does the|did the|does our|is our|are our|has the|have the|is this|is that|is he|is she|are they|should we|should i|should the|shall we|will it|will we|will the|did he|did she|did they|does it|does this|does that|can we|can i|could we|has he|has she|has it|was it|was that|were they|would it|can someone|can somebody|can anyone|could someone|could somebody|could anyone|would someone|does anybody|has anybody|do you|did you|are you|have you|will you|would you",
        "was ist|was war|was hat|was haben|was passiert|was gibt|was macht|was kostet|was denkt|was denkst|warum|wieso|weshalb|wie|wann|wo|wer|wem|wen|welche|welcher|welches|gibt es|haben wir|sind wir|ist der|ist die|ist das|weiß jemand|weiss jemand|weiß wer|weiss wer|kann jemand|kann wer|könnte jemand|qué|que hay|por qué|cómo|cuándo|dónde|quién|cuál|cuáles|cuánto|cuántos|cuánta|cuántas|hay|tenemos|alguien sabe",
        "quoi|pourquoi|comment|quand|où|qui|quel|quelle|quels|quelles|combien|est-ce|est-ce que|qu'est-ce|qu'est-ce que|avons-nous|y a-t-il|o que|por que|como|quando|onde|quem|qual|quais|quanto|quantos|quantas|alguém sabe|quelqu'un sait|est-ce que quelqu'un|qualcuno sa|che cosa|perché|quando|dove|chi",
        "что|почему|зачем|как|когда|где|кто|какой|какая|какие|какое|сколько|куда|есть ли|можно ли|чей|क्या|क्यों|कैसे|कब|कहाँ|कहां|कौन|कितना|कितने|कितनी|kya|kyun|kyon|kaise|kab|kahan|kaun|kitna|kitne|kitni",
        "هل|ما هو|ما هي|ما الذي|ماذا|لماذا|كيف|متى|أين|من هو|من الذي|كم|أي|ليش|شو|কি|কী|কেন|কিভাবে|কীভাবে|কখন|কবে|কোথায়|কে|কত|কোন|কয়টা|کیا|کیوں|کیسے|کب|کہاں|کون|کتنا|کتنے|کتنی|apa|kenapa|bagaimana|gimana|kapan|berapa|siapa|di mana|czy|jak|kiedy|gdzie|dlaczego|kto|ile|który|nasıl|neden|ne zaman|nerede|kim|hangi|kaç|hoe|waarom|wanneer|waar|welke|hur|varför|när|vem|як|чому|коли|де|хто|скільки|làm sao|tại sao|khi nào|ai biết",
    ]),
    (Sense::You, &[
        "you|your|yours|u|du|dir|dich|dein|deine|ihr|euch|tú|ti|te|tus|usted|ustedes|crees|piensas|opinas|sabes|tienes|vous|tu|toi|penses|você|vc|vocês|acha|pensi|pensa",
        "ты|вы|тебя|тебе|вас|вам|думаешь|видел|видела|скажи|скажите|तुम|आप|तू|तुम्हारा|आपका|तुम्हें|आपको|tum|aap|tumhara|aapka|أنت|انت|أنتِ|أنتم|رأيك|لديك|عندك|তুমি|আপনি|তোমার|আপনার|তোমরা|تم|آپ|تمہارا|آپکا|kamu|anda|sen|siz",
    ]),
    (Sense::CanYou, &[
        "can you|could you|would you|will you|do you|did you|are you|have you|can u|could u|would u|r u|do u|got a minute|kannst|könntest|kannst du|könntest du|weißt du|hast du|bist du|würdest du|magst du|meinst du|könnt ihr|könnten sie",
        "puedes|podrías|puede|podría|pueden|me ayudas|me puedes|me dices|me pasas|peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|tu peux|tu pourrais|sais-tu|penses-tu|as-tu|vous pouvez|pode|poderia|podes|você pode|consegue|você sabe|puoi|potresti|mi aiuti|hai|sai|quelqu'un peut|quelqu'un pourrait|alguien puede|alguien podría|alguém pode|alguém poderia|jemand kann|qualcuno può|ktoś może",
        "можешь|можете|сможешь|сможете|мог бы|могли бы|знаешь|знаете|क्या तुम|क्या आप|kya tum|kya aap|هل يمكنك|يمكنك|تقدر|ممكن|تعرف|تستطيع|هل تعرف|পারো|পারবে|পারেন|পারবেন|کیا تم|کیا آپ|bisa|tolong",
    ]),
    (Sense::AskToDo, &[
        "can you|could you|would you|will you|can u|could u|would u|can y'all|won't you|wouldn't you|kannst|könntest|kannst du|könntest du|würdest du|magst du|könnt ihr|könntet ihr|würdet ihr|können sie|könnten sie|würden sie|puedes|podrías|puede usted|podría usted|podéis|pueden ustedes|me ayudas|me puedes|me podrías|nos puedes|me dices|me pasas",
        "peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|tu peux|tu pourrais|vous pouvez|vous pourriez|est-ce que tu peux|est-ce que vous pouvez|pode|poderia|podes|podem|você pode|você poderia|vocês podem|dá para você|dá pra você|tem como você|consegue|puoi|potresti|potete|mi aiuti|kun je|kunt u|możesz|mógłbyś|mogłabyś",
        "можешь|можете|не можешь|не можете|мог бы|могла бы|могли бы|не мог бы|не могла бы|не могли бы|क्या तुम|क्या आप|kya tum|kya aap|सकते हो|सकते हैं|सकती हो|सकती हैं|sakte ho|sakte hain|هل يمكنك|يمكنك|هل تستطيع|تستطيع|تقدر|ممكن|পারো|পারবে|পারেন|পারবেন|کیا تم|کیا آپ|bisakah|bisa kamu|tolong|misin|mısın|musun|müsün|misiniz|mısınız",
    ]),
    (Sense::Can, &["can|could|would|will|may|might|shall|must|should|kann|könnte|würde|puede|podría|peut|pourrait|pode|poderia|может|мог бы|può|potrebbe"]),
    (Sense::Request, &[
        "add|analyse|analyze|announce|arrange|ask|assign|build|calculate|cancel|check|clean|collect|compare|compile|compute|count|create|debug|define|delete|deploy|describe|design|document|draft|draw|estimate|evaluate|explain|export|fetch|find|fix|forecast|generate|give|help|identify|implement|improve|inspect|investigate|list|make|measure|merge|monitor|outline|plan|post|predict|prepare|prioritise|prioritize|propose|publish|rank|read|recommend|refactor|release|remind|remove|rename|replace|report|research|restart|retry|review|rewrite|run|schedule|search|send|share|show|sort|start|suggest|summarise|summarize|tell|test|track|translate|update|verify|write|stop|disable|enable|kill|pause|shut down|turn off|turn on|switch|order|book",
        "fass|frag|frage|erinnere|erinner|zeig|zeige|erkläre|erklär|liste|schreib|schreibe|prüfe|prüf|such|suche|erstelle|gib|mach|mache|sag|schau|hilf|vergleiche|berechne|übersetze|pregúntale|pregunta|recuérdame|recuerda|resume|resúmeme|muestra|muéstrame|explica|explícame|escribe|busca|revisa|haz|dame|dime|compara|calcula|traduce|crea|lista|ayuda|ayúdame|enséñame|cuéntanos|cuéntame",
        "demande|demandez|rappelle|rappelle-moi|résume|résumez|montre|montre-moi|explique|explique-moi|écris|cherche|vérifie|fais|donne|donne-moi|dis-moi|compare|calcule|traduis|crée|liste|aide|aide-moi|regarde|prépare|pergunte|pergunta|lembre|me lembra|me lembre|chiedi|ricordami|résuma|mostre|mostra|explica|explique|escreva|escreve|procure|verifique|faça|faz|dê|diga|compare|calcule|traduza|crie|liste|ajude|prepare",
        "спроси|спросите|напомни|напомните|покажи|покажите|сделайте|сделай|подскажи|подскажите|объясни|напиши|найди|проверь|сделай|дай|скажи|расскажи|сравни|посчитай|переведи|создай|составь|помоги|подготовь|посмотри|बताओ|बताइए|दिखाओ|दिखाइए|समझाओ|लिखो|खोजो|जाँचो|बनाओ|दो|करो|batao|dikhao|samjhao|likho",
        "لخص|لخصي|لخصوا|اشرح|أرني|اكتب|ابحث|تحقق|أعطني|اعطني|قارن|احسب|ترجم|أنشئ|ساعد|راجع|جهز|দেখাও|বলো|বলুন|লেখো|লিখুন|বোঝাও|খুঁজে|বানাও|তৈরি|দেখান|দাও|دکھاؤ|دکھائیں|بتاؤ|بتائیں|لکھو|لکھیں|سمجھاؤ|تلاش|بناؤ|چیک",
    ]),
    (Sense::Imperative, &[
        "look|have|come|go|try|take|hold|skip|wait|mark|see|watch|ping|join|leave|keep|put|set|bring|get|call|meet|talk|let|pick|open|close|drop|use|note|remember|forget|think|relax|stay|don't|redo|undo|rerun|ignore|proceed|continue|speak|say|answer|respond|reply|confirm|guess|mach|komm|geh|nimm|warte|mira|ven|espera|toma|pon|viens|prends|attends|regarde|mets|vem|espera|pega|põe|olha|иди|подожди|возьми|пришли|пришлите|сделайте|देखो|देखिए|सुनो|आओ|रुको|dekho|dekh|انتظر|خذ|انظر|تعال|দেখো|দেখুন|শোনো|এসো|دیکھو|دیکھیں|سنو|آؤ",
    ]),
    (Sense::Governing, &[
        "to|of|with|about|from|by|for|at|like|than|on|in|as|is|are|was|were|be|been|am|ask|asked|asking|tell|told|telling|see|saw|seen|know|knows|knew|call|called|meet|met|thank|thanked|blame|let|makes|made|when|where's|who's|how's|what's|if|because|that|poor|our|my|your|the|a|via|told|gave|give|gives|need|needs|pinged|ping|while|and|or|not|told|trust|love|hear|heard|wait|before|after|without|this|next|last|early|late|mid|both|has|have|does|did|do",
        "de|con|a|al|del|para|por|sobre|y|o|es|que|ver|pregunta|conoces|von|mit|zu|für|über|an|bei|und|oder|ist|war|der|die|das|den|dem|dass|frag|kennst|avec|pour|à|et|ou|sur|chez|est|que|le|la|demande|connais|com|da|do|em|e|ou|é|o|pergunta",
        "с|о|об|у|к|для|и|или|что|от|по|про|был|спроси|का|के|की|को|से|ने|और|ka|ke|ki|ko|se|ne|إلى|على|من|مع|عن|في|و|أن|اسأل|کا|کے|کی|کو|سے|نے|اور|এর|কে|থেকে|সাথে|ও",
    ]),
    (Sense::Stating, &[
        "is|was|are|were|has|had|have|said|says|will|would|did|does|doesn't|didn't|isn't|wasn't|won't|hasn't|can't|couldn't|thinks|thought|told|wrote|looks|seems|failed|works|worked|knows|wants|needs|asked|answered|got|gets|made|makes|went|goes|just|also|already|still|never|always|probably|and|or|with|from|who|should|might|must|could|can|used|fixed|broke|likes|sent|posted|agrees",
        "ist|war|hat|hatte|sagt|sagte|wird|meint|und|oder|macht|kommt|kann|soll|es|está|era|fue|dijo|dice|tiene|y|o|va|puede|est|était|dit|sera|et|ou|va|é|foi|disse|tem|e|ou|vai|está|сказал|говорит|был|была|будет|и|или|уже|не|ने|का|की|के|को|है|था|और|ne|قال|يقول|كان|و|هو|বলেছে|ছিল|এর|ও|نے|کا|کی|کے|کو|ہے|تھا|اور",
    ]),
    (Sense::Telling, &[
        "i|i'm|i've|i'll|we|we're|we've|we'll|he|she|it|it's|they|they're|that's|there's|is|was|are|were|isn't|wasn't|aren't|weren't|am|has|had|have|hasn't|haven't|will|won't|would|wouldn't|can|can't|cannot|could|couldn't|should|shouldn't|must|might|did|didn't|does|doesn't|do|don't|said|says|thinks|thought|wants|needs|failed|fails|works|worked|went|goes|got|gets|made|makes|sent|fixed|broke",
        "ich|wir|er|sie|es|ist|sind|war|waren|hat|haben|hatte|hatten|wird|werden|kann|können|soll|sollen|muss|müssen|habe|bin|geht|kommt|macht|yo|nosotros|es|son|está|están|era|fue|ha|han|tiene|tienen|va|van|puede|dijo|estoy|tengo|hay|somos|tenemos|je|j'ai|nous|il|elle|est|sont|était|ont|avons|sera|c'est|fait|eu|nós|é|são|estava|foi|tem|têm|temos|vai|disse|estou|tenho",
        "я|мы|он|она|они|это|был|была|было|были|будет|есть|сказал|сказала|можно|надо|нужно|मैं|हम|वह|वे|है|हैं|था|थे|थी|गया|गई|हुआ|أنا|نحن|هو|هي|هم|كان|كانت|يكون|قال|আমি|আমরা|সে|তারা|আছে|ছিল|হয়|হয়েছে|میں|ہم|وہ|ہے|ہیں|تھا|تھے|گیا",
    ]),
    (Sense::Title, &[
        "mr|mrs|ms|dr|prof|sir|madam|captain|boss|herr|frau|señor|señora|sr|sra|don|doña|monsieur|madame|m|mme|mademoiselle|senhor|senhora|seu|dona|signor|signora|господин|госпожа|श्री|श्रीमती|जी|ji|bhai|भाई|السيد|السيدة|أستاذ|জনাব|দাদা|ভাই|صاحب|جناب|بھائی|san|kun|chan|sama|sensei|mate|buddy|bro|dude|bhaiya|pak|bu|mas|mbak|anh|chị|em|ơi|my friend|amigo|amiga|mon ami|haan",
    ]),
    (Sense::Subject, &[
        "i|i'm|i've|i'd|i'll|im|ive|my|we|we're|we've|we'd|we'll|our|the|this|these|there|there's|it's|da|hier|ich|wir|mein|meine|unser|unsere|yo|mi|necesito|tengo|quiero|nosotros|nuestro|nuestra|je|j'ai|j'aimerais|mon|nous|eu|preciso|tenho|quero|meu|minha|nós|nosso|nossa|io|ho bisogno|mio|mia|ik|wij|ja|moja|mój|bana|benim",
        "я|мне|у меня|у нас|мы|мой|моя|нам|наш|मैं|मुझे|हम|मेरा|मेरी|मेरे|हमें|mujhe|main|mera|أنا|أحتاج|عندي|لدي|نحن|نحتاج|আমি|আমার|আমাদের|میں|مجھے|ہم|میرا|میری",
    ]),
    (Sense::We, &[
        "we|we're|we've|we'll|our|ours|us|wir|uns|unser|unsere|unserem|unseren|unserer|nosotros|nuestro|nuestra|nuestros|nuestras|tenemos|nous|notre|nos|nós|nosso|nossa|nossos|nossas|temos|a gente|noi|nostro|nostra|abbiamo|wij|ons|onze|biz|bizim",
        "мы|наш|наша|наше|наши|нашего|нас|нам|हम|हमारा|हमारे|हमारी|हमें|hum|hamara|hamari|نحن|لدينا|عندنا|لنا|আমরা|আমাদের|ہم|ہمارا|ہماری|ہمارے",
    ]),
    (Sense::Anaphora, &[
        "it|its|that|that's|what about|how about|was ist mit|und was ist mit|qué tal|et pour|e quanto a|что насчёт|he|she|him|her|they|them|then|one|ones|same|too|either|instead|though|that one|er|dann|dort|dazu|davon|dafür|damit|jetzt|auch|denn|eso|esto|ese|esa|entonces|también|él|ella|ça|cela|alors|lui|elle|isso|isto|então|também|ele|ela|allora|quello|anche|lui|lei",
        "это|этот|эта|тогда|он|она|они|его|её|там|тоже|यह|वह|ये|वो|तो|फिर|भी|toh|phir|إذن|هذا|هذه|ذلك|هناك|أيضا|তাহলে|সেটা|ওটা|پھر|تو|یہ|وہ|o zaman|peki|onu",
    ]),
    (Sense::Social, &[
        "lunch|dinner|breakfast|brunch|coffee|espresso|beer|beers|wine|drinks|pub|pizza|burger|cake|croissant|snack|snacks|hungry|eat|eating|canteen|cafeteria|party|weekend|birthday|gym|gig|umbrella|the game|the match|the movie|we meet|we leave|we go|should we|shall we|shall i|you be there|you be late|you be back|you be around|you be home|you be free|you be coming|still on for|you come|you join|you like|you make it|you guess|you believe|you feel|you doing|you two|you guys|you both|kids|family|you coming|who's coming|who is coming|see you|up for",
        "kommt mit|kommst du|mittagessen|mittag|abendessen|frühstück|kaffee|bier|kuchen|hunger|essen|kantine|wochenende|geburtstag|feierabend|regenschirm|treffen wir|wir uns|sollen wir|sollten wir|almuerzo|almorzar|cena|cenar|desayuno|comer|comemos|café|cerveza|tarta|hambre|finde|fin de semana|qué tal|cumpleaños|quedamos|quién viene|quién se apunta|nos vemos|deberíamos",
        "qui vient|tu viens|déjeuner|dîner|manger|on mange|bière|gâteau|faim|cantine|week-end|weekend|anniversaire|on se voit|on se retrouve|on devrait|quem vem|você vem|almoço|almoçar|jantar|cerveja|bolo|fome|fim de semana|aniversário|a gente se vê|pranzo|pranzare|cena|mangiare|caffè|birra|torta|compleanno|fine settimana|ci vediamo|öğle yemeği|kahve|lunchen|koffie|obiad|kawa",
        "кто идёт|кто идет|ты идёшь|обед|обедать|ужин|завтрак|кофе|пиво|торт|есть хочешь|столовая|выходные|день рождения|встречаемся|увидимся|लंच|खाना|चाय|कॉफ़ी|नाश्ता|जन्मदिन|मिलते|chai|lunch|khana|غداء|الغداء|عشاء|فطور|قهوة|كعكة|جائع|نلتقي|লাঞ্চ|দুপুরের|চা|খাবার|لنچ|کھانا|چائے|makan siang|kopi",
    ]),
    (Sense::Deed, &[
        "prüfen|überprüfen|nachsehen|helfen|zusammenfassen|auflisten|übersetzen|erklären|suchen|zeigen|erinnern|schreiben|vergleichen|berechnen|erstellen|planen|revisar|ayudar|ayudarme|resumir|listar|traducir|explicar|explicarme|buscar|mostrar|recordar|recordarme|escribir|redactar|comparar|calcular|preparar|comprobar|verificar",
        "vérifier|aider|m'aider|résumer|lister|traduire|expliquer|m'expliquer|chercher|montrer|rappeler|rédiger|écrire|comparer|calculer|préparer|ajudar|traduzir|procurar|lembrar|escrever|redigir|preparar|controllare|aiutare|aiutarmi|riassumere|elencare|tradurre|spiegare|cercare|mostrare|ricordare|scrivere",
        "проверить|помочь|составить|перевести|объяснить|найти|показать|напомнить|написать|сравнить|посчитать|подготовить|التحقق|تلخيص|مراجعة|ترجمة|شرح|تساعدني|controleren|helpen|samenvatten|vertalen",
    ]),
    (Sense::Who, &["who|who's|whose|wer|wem|wessen|quién|quiénes|qui|quem|chi|кто|कौन|kaun|من|কে|کون|siapa|kto|kim|wie|vem"]),
    (Sense::Introducing, &["i'm|i’m|i am|im|this is|my name is|it's|ich bin|ich heiße|mein name ist|hier ist|soy|me llamo|aquí|je suis|je m'appelle|c'est|sou|sou o|sou a|me chamo|aqui é|sono|mi chiamo|ik ben|jestem|ben|я|меня зовут|это|मैं|मेरा नाम|main|mera naam|أنا|اسمي|আমি|আমার নাম|میں|میرا نام"]),
    (Sense::Here, &["here|speaking|hier|aquí|ici|aqui|здесь|тут|qui"]),
    (Sense::And, &["and|&|+|then|und|y|e|et|и|و|और|اور|এবং|ও|plus|n"]),
    (Sense::Team, &["team|the team|bots|agents|equipo|l'équipe|équipe|equipe|команда|टीम|فريق|টিম|ٹیم"]),
    (Sense::Everybody, &[
        "all|everyone|everybody|folks|guys|people|all of you|you all|y'all|friends|colleagues|there|again|gang|zusammen|alle|alle zusammen|leute|a todos|todos|chicos|à tous|tous|tout le monde|pessoal|galera|gente|a todas|всем|все|ребята|коллеги|सब|सबको|sab|جميعا|جميعاً|الجميع|يا جماعة|সবাই|সবাইকে|سب|سب کو|semua|semuanya|allemaal|tutti|a tutti|ragazzi|arkadaşlar|herkese",
    ]),
    (Sense::Presence, &[
        "anyone there|anybody there|anyone here|anybody here|is anyone here|is anyone there|is anybody there|is anybody here|anyone around|anybody around|is anyone around|anyone home|anybody awake|anyone awake|is anybody awake|is anyone awake|anyone up|anyone alive|is anybody around|you there|jemand da|ist jemand da|ist da jemand|hay alguien|hay alguien ahí|hay alguien aquí|quelqu'un|il y a quelqu'un|tem alguém aí|alguém aí|есть кто|есть кто-нибудь|тут есть кто-нибудь|кто-нибудь здесь|कोई है|कोई है यहाँ|koi hai|هل من أحد|هل من أحد هنا|في حد هنا|কেউ আছেন|কেউ আছো|কেউ আছে|کوئی ہے|کوئی ہے یہاں|who's there|who is here|c'è qualcuno",
    ]),
    (Sense::Stop, &[
        "stop|halt|be quiet|stop it|stop that|stop talking|stop posting|stop writing|shut up|that's enough|cut it out|knock it off|stop everything|stop all of it|stop now|don't do anything|dont do anything|do nothing|hold everything|stand down",
        "stopp|mach nichts|macht nichts mehr|mach nichts mehr|alles stopp|no hagas nada|no hagan nada|ne fais rien|ne faites rien|não faça nada|fermati|fermatevi|non fare niente|hör auf|aufhören|sei still|seid still|ruhe|hört auf|para|parad|paren|detente|deténganse|cállate|cállense|basta|basta ya|silencio|ya basta|arrête|arrêtez|arrête-toi|tais-toi|taisez-vous|stoppe|ça suffit|pare|parem|chega|cala a boca|fica quieto|fiquem quietos",
        "стоп|хватит|остановись|остановитесь|замолчи|замолчите|прекрати|прекратите|перестань|रुको|रुकिए|बंद करो|चुप|चुप रहो|बस करो|ruko|band karo|chup karo|bas karo",
        "توقف|توقفي|توقفوا|قف|كفى|اسكت|اسكتوا|বন্ধ করো|থামো|থামুন|চুপ|চুপ করো|رکو|رک جاؤ|بند کرو|چپ|بس کرو|berhenti|diam|smettila|smettetela|dur|durun|yeter",
    ]),
    (Sense::CallOff, &[
        "cancel that|cancel it|cancel this|cancel|abort|abort that|call it off|never mind|nevermind|forget it",
        "brich ab|brich das ab|abbrechen|abbruch|lass das|lasst das|vergiss es|cancela eso|cancélalo|déjalo|annule ça|laisse tomber|cancele isso|deixa pra lá|lascia stare",
        "отмена|отмени|отмени это|забудь|रद्द करो|batalkan|iptal et",
    ]),
    (Sense::AroundStop, &[
        "hold on|wait|hang on|hold it|warte|warte mal|moment|espera|attends|aspetta|подожди|please|pls|plz|now|right now|all|everyone|everybody|team|agents|bots|bot|ok|okay|hey|and|of|you|guys|folks|just|it|this|that|talking|for now|immediately|already|again|thanks|thank you|really|no|hey hey|would you|can you|could you|all of you",
        "bitte|jetzt|sofort|alle|mal|endlich|por favor|ya|ahora|todos|eso|s'il te plaît|s'il vous plaît|stp|maintenant|tous|por favor|agora|já|isso|todos|пожалуйста|сейчас|все|уже|немедленно|कृपया|अब|सब|यार|ab|من فضلك|الآن|جميعا|এখন|এখনই|দয়া করে|সবাই|براہ کرم|اب|ابھی|سب",
    ]),
];

/// The same for writing without spaces between words.
#[rustfmt::skip]
const UNSPACED: &[(Sense, &str)] = &[
    (Sense::Greeting, "你好|您好|大家好|早上好|早安|早|晚上好|下午好|嗨|哈喽|哈啰|こんにちは|おはようございます|おはよう|こんばんは|お疲れ様です|もしもし|안녕하세요|안녕|สวัสดี"),
    (Sense::Thanks, "谢谢你|谢谢您|谢谢|多谢|感谢|辛苦了|太好了|好的|ありがとうございます|ありがとう|どうも|感謝|감사합니다|고마워요|고마워|고맙습니다|ขอบคุณ"),
    (Sense::Agreeing, "好的|好|嗯|明白了|明白|知道了|收到|可以|是的|はい|了解です|了解|分かりました|わかりました|なるほど|네|알겠습니다|알겠어요|그렇군요"),
    (Sense::Attention, "对不起|不好意思|抱歉|打扰一下|请问|すみません|ごめん|ごめんなさい|失礼します|죄송합니다"),
    (Sense::Opener, "那么|那|好|嗯|哦|对了|另外|ところで|じゃあ|では|ねえ|あの"),
    (Sense::Please, "请|麻烦|拜托|帮我|帮忙|ください|お願いします|お願い|してくれ|해주세요|주세요|부탁"),
    (Sense::Question, "什么|为什么|怎么|怎样|如何|吗|呢|谁|哪|几|多少|是否|有没有|是不是|何|なぜ|どう|いつ|どこ|誰|いくつ|いくら|ですか|ますか|でしょうか|무엇|왜|어떻게|언제|어디|누구"),
    (Sense::You, "你|您|能不能|可以|あなた|くれる|くれますか"),
    (Sense::AskToDo, "你能|您能|能不能|能帮|可以帮|可不可以|可以请|请你|くれますか|くれる|もらえますか|もらえる|いただけますか|くださいますか|있나요|주시겠어요|줄래요|주실래요|줄 수"),
    (Sense::Subject, "我|我们|咱们|私|僕|俺|저|제가|우리|나는"),
    (Sense::We, "我们|咱们|私たち|我々|弊社|うちの|우리|저희"),
    (Sense::Anaphora, "它|他|她|那个|这个|那么|也|それ|これ|あれ|そこ|그거|그것"),
    (Sense::Social, "午饭|吃饭|晚饭|早饭|咖啡|啤酒|蛋糕|周末|生日|见面|几点见|ランチ|昼ご飯|晩ご飯|食べ|コーヒー|ビール|ケーキ|週末|誕生日|会いましょ|점심|저녁|밥|커피|맥주|케이크|주말|생일"),
    (Sense::Who, "谁|誰|누구"),
    (Sense::Introducing, "我是|我叫|这是|私は|저는|제 이름은"),
    (Sense::Request, "总结|解释|列出|写|查|检查|告诉|显示|比较|翻译|分析|准备|看看|看一下|给我|まとめて|教えて|見て|書いて|調べて|説明して|確認して"),
    (Sense::Telling, "是|了|我|我们|有|です|ました|ます|でした|입니다|했습니다|있습니다"),
    (Sense::Title, "さん|君|くん|ちゃん|様|先生|氏|同学|老师|哥|姐|님|씨"),
    (Sense::Everybody, "大家|各位|你们|所有人|みんな|みなさん|皆さん|여러분"),
    (Sense::Team, "团队|团队各位|团队的各位|チーム|チームのみなさん|チームの皆さん|チームのみんな"),
    (Sense::Presence, "有人吗|有人在吗|在吗|誰かいますか|誰かいる"),
    (Sense::Stop, "停下来|停下|停止|停|别说了|闭嘴|安静|住口|够了|やめて|やめろ|止まって|止めて|ストップ|静かにして|静かに|멈춰|그만"),
    (Sense::AroundStop, "请|现在|马上|大家|都|吧|了|立刻|ください|みんな|今すぐ|お願い"),
    (Sense::And, "和|跟|与|と"),
];

/// The senses of phrases. Beginnings of longer phrases are included, and may have no sense of their own.
static SPACED: LazyLock<HashMap<&'static str, Vec<Sense>>> = LazyLock::new(|| {
    let mut known: HashMap<&str, Vec<Sense>> = HashMap::with_capacity(3000);
    for (sense, lines) in PHRASES {
        for phrase in lines.iter().flat_map(|line| line.split('|')) {
            for (space, _) in phrase.match_indices(' ') {
                known.entry(&phrase[..space]).or_default();
            }
            known.entry(phrase).or_default().push(*sense);
        }
    }
    known
});

/// The most words of a phrase.
pub(super) const LONGEST: u8 = 4;

/// The senses of folded words. `None` if no phrase begins with them.
pub(super) fn find(words: &str) -> Option<&'static [Sense]> {
    SPACED.get(words).map(Vec::as_slice)
}

/// Whether a folded word or phrase can have this sense.
pub(super) fn says(phrase: &str, sense: Sense) -> bool {
    find(phrase).is_some_and(|said| said.contains(&sense))
}

/// Whether a word without spaces inside consists of words with these senses.
pub(super) fn is_made_of(word: &str, senses: &[Sense]) -> bool {
    if word.is_ascii() {
        return false;
    }
    let mut rest = word;
    let longest = |rest: &str| {
        let parts = senses.iter().flat_map(|sense| unspaced(*sense));
        parts.filter(|part| rest.starts_with(part)).map(str::len).max()
    };
    while let Some(length) = longest(rest) {
        rest = &rest[length..];
    }
    rest.is_empty()
}

/// The senses of a word without spaces inside, as a whole.
pub(super) fn senses_of_unspaced(word: &str) -> impl Iterator<Item = Sense> {
    UNSPACED.iter().map(|(sense, _)| *sense).filter(move |sense| is_made_of(word, &[*sense]))
}

/// Whether a word without spaces inside contains a word with this sense.
pub(super) fn holds(word: &str, sense: Sense) -> bool {
    !word.is_ascii() && unspaced(sense).any(|part| word.contains(part))
}

/// Whether a word without spaces inside begins with a word that has this sense, and continues after it.
pub(super) fn begins(word: &str, sense: Sense) -> bool {
    !word.is_ascii() && unspaced(sense).any(|part| word.len() > part.len() && word.starts_with(part))
}

/// The words of a sense in writing without spaces.
fn unspaced(sense: Sense) -> impl Iterator<Item = &'static str> {
    UNSPACED.iter().filter(move |(of, _)| *of == sense).flat_map(|(_, words)| words.split('|'))
}

/// Whether a character belongs to a writing without spaces between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}')
}
