// The pins of some features, as literals; contracts.test.ts says what they are and what to do when one is red.

export const featureEventPins = {
  'plugin.recorded': 'fdb018db95b74e4b',
  'plugin.approved': '8bcdaa77486011a2',
  'governor.assessed': '537d0fddaa49fc62',
  'call.verified': '4f6c11f8e6c51c90',
  'opinion.requested': '308df32d912df605',
  'opinion.given': '2563024ae189a2e2',
  'opinion.judged': '88609ed9f093a525',
  'value.given': '2fafa4b1e8157da5',
} as const;

export const featureOpPins = {
  'plugin.list': '71fc596a20f27da3 5a9306afeb461e87',
  'plugin.approve': 'ffc53a1f9500ccef 804d548ca2febac1',
  'plugin.call': '994c5d3be1f25713 0be97c0a8239aee9',
  'engine.get': '71fc596a20f27da3 b760a16aae6a4525',
  'engine.install': '71fc596a20f27da3 b760a16aae6a4525',
  'engine.remove': '71fc596a20f27da3 b760a16aae6a4525',
  'governor.explain': '5b2a285a9f432c76 13e50d9efe299b81',
  'governor.try': 'ccf27b67e5a71cfc 53ac93fec1bb68d5',
  'model.opinion': '52169641b6105930 d6b8d305b31b7943',
  'opinion.list': '5b2a285a9f432c76 43f37840ec259989',
  'turn.value': '5969bc9adb4caee1 39614b172480e942',
} as const;
