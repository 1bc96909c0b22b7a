/** What a request is about, as the result of a vision run names it. */
export type Intent = 'reply' | 'edit' | 'generate' | 'clarify';

const PICTURE_WORDS = 'picture|image|photo|poster|cover|logo|illustration|icon|banner|wallpaper|drawing|portrait';
const GENERATE_EN = new RegExp(
  `\\b(?:generate|draw|paint|create|design|render|make)\\s+(?:me\\s+)?(?:an?|another|some|new|\\d+)\\b.*\\b(?:${PICTURE_WORDS})s?\\b`,
  'i',
);
const GENERATE_ZH = /生成|绘制|画(?:一|个|张|幅|只)|设计(?:一|个|张)|(?:做|来)(?:一)?(?:张|幅)|文生图/;
const EDIT_EN =
  /\b(?:remove|erase|delete|replace|change|edit|crop|rotate|recolou?r|brighten|darken|blur|sharpen|retouch|resize|swap|add|convert|restyle|enhance|get rid of|clean up|cut out|(?:make|turn) (?:it|this|the|them))\b/i;
const EDIT_ZH =
  /去掉|去除|移除|删|替换|换|改|修(?:图|复|掉)|调(?:整|亮|暗|色)|擦|抠|裁|旋转|加上|添加|增加|变(?:成|为)|美化|提亮|模糊|P图/i;
const QUESTION_EN = /^\s*(?:what|which|why|how|who|whose|where|when|is|are|does|do|did)\b/i;
const QUESTION_ZH = /什么|为何|怎么|怎样|多少|哪|谁/;

const STYLE = /\bstyle\b|风格/i;
const NAMED_STYLE =
  /\b(?:retro|vintage|minimal\w*|water ?colou?r|anime|cartoon|oil|cyberpunk|film|cinematic|sketch|black and white|monochrome|magazine|pop art|pixel|flat|realistic|art deco|baroque|gothic|noir)\b|\b(?:in|to|into) (?:an? |the )?(?!(?:new|other|another|different|its)\b)[\w-]+ style\b|复古|极简|水彩|水墨|国潮|动漫|卡通|油画|赛博|电影|素描|黑白|杂志|写实|像素|扁平|时装|日系|欧美|中国风|[成为用](?!.{0,3}(?:什么|其他|别的|新))[^，。；\s]{1,8}风格/i;

/**
 * The intent of a user's text: `clarify` when it wants another style but names none, `edit` when it wants
 * something changed, `generate` when it wants a new picture, else `reply`.
 * @param hasPictures without a picture there is nothing to edit
 */
export function intentOf(text: string, hasPictures: boolean): Intent {
  if (QUESTION_EN.test(text) || QUESTION_ZH.test(text)) return 'reply';
  if (GENERATE_EN.test(text) || GENERATE_ZH.test(text)) return 'generate';
  if (!hasPictures || !(EDIT_EN.test(text) || EDIT_ZH.test(text))) return 'reply';
  return STYLE.test(text) && !NAMED_STYLE.test(text) ? 'clarify' : 'edit';
}
